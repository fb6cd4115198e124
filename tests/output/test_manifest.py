"""manifest.json (O1): what the module was made from, canonical, with no trace of where or when."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pipeline.artifacts import Contract, Pin
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.manifest import manifest
from pipeline.places import Span
from tests.generate.samples import BROWSER, CRM, FREEE, WEEKLY, Code, Document, Hand, Step, document, module_of

SCHEMA = Path(__file__).parents[2] / "docs" / "manifest.schema.json"
GENERATOR = GeneratorIdentity("template", "1")


def made(sample: Document, carried: tuple[int, ...] = ()) -> dict[str, Any]:
    module = module_of(sample)
    text = manifest("0" * 64, sample.parsed, sample.resolved, sample.positions, module, GENERATOR, carried)
    read: dict[str, Any] = json.loads(text)
    return read


SINGLE = document(Step("点検", ("見る。", Code("", None)), number=None), name="点検 \u2028")
EVERYTHING = document(
    Step(
        "数える",
        (Code("select 1\n", "sql"),),
        (CRM, FREEE, BROWSER),
        (Hand(0, "bigquery", ("query",), False, "argument", ("run_query",), "sql", '{"limit":1.5}', ("1",)),),
    )
)


PIN = EVERYTHING.resolved.pins[0]
CONTRACTS = (
    Contract(PIN.tool, "", '{"kind":"mcp","server":{"url":"https://example.com/mcp"}}'),
    Contract(PIN.tool, PIN.operation, '{"confirm":"always","timeout_s":30}'),
)
EVERYTHING = EVERYTHING._replace(resolved=EVERYTHING.resolved._replace(contracts=CONTRACTS))


@pytest.mark.parametrize("sample", [WEEKLY, SINGLE, EVERYTHING])
def test_it_fits_its_schema(sample: Document) -> None:
    """The published schema, which is itself a schema."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(made(sample))


def test_it_names_everything_that_the_schema_requires_and_no_more() -> None:
    """The schema is complete: it describes each field that is written."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    written = made(EVERYTHING)
    assert list(written) == list(schema["properties"])
    entries = {name: schema["properties"][name]["items"]["properties"] for name in ("operations", "fences", "phases")}
    for name, described in entries.items():
        assert set(written[name][0]) == set(described)
    for name in ("tools", "handovers"):
        assert set(written["phases"][0][name][0]) == set(entries["phases"][name]["items"]["properties"])


def test_it_says_what_a_run_must_know_of_tools_and_operations() -> None:
    """How a tool is reached, and what an operation asks for beside its schema: a run needs no catalog."""
    written = made(EVERYTHING)
    assert written["tools"] == [{"tool": PIN.tool, "kind": "mcp", "server": {"url": "https://example.com/mcp"}}]
    assert written["operations"][0]["contract"] == {"confirm": "always", "timeout_s": 30}
    assert all(entry["contract"] == {} for entry in made(WEEKLY)["operations"])


def test_it_pins_the_operations_that_are_used() -> None:
    """Definitions and digests, so that a drift shows and a run needs no catalog."""
    operations = made(WEEKLY)["operations"]
    assert [(entry["tool"], entry["operation"], entry["effect"]) for entry in operations] == [
        ("exa", "web_search_exa", "read"),
        ("slack", "post_message", "write"),
        ("slack", "search_messages", "read"),
    ]
    assert operations[0]["input_schema"] == {"type": "object"}
    assert operations[2]["input_schema"] is None
    pin = WEEKLY.resolved.pins[0]
    changed = [pin._replace(description="x"), pin._replace(schema="{}"), pin._replace(effect="write")]
    digests = {
        made(WEEKLY._replace(resolved=WEEKLY.resolved._replace(pins=(entry,))))["operations"][0]["sha256"]
        for entry in changed
    }
    assert len(digests) == 3


def test_it_has_the_lines_of_phases_fences_and_handovers() -> None:
    """They stand here because they do not stand in the module (R1)."""
    read = made(WEEKLY)
    assert [phase["line"] for phase in read["phases"]] == [21, 41, 71]
    assert [fence["line"] for fence in read["fences"]] == [11, 31, 51]
    assert [phase["fences"] for phase in read["phases"]] == [[0, 1], [0, 2], []]
    assert read["phases"][1]["handovers"][0]["line"] == 61
    assert read["phases"][1]["handovers"][0]["fence"] == 2
    assert read["fences"][1]["sha256"] == hashlib.sha256("from: 月曜\n  to: 日曜 \n".encode()).hexdigest()


def test_the_source_map_leads_from_generated_lines_to_the_document() -> None:
    """A fence's lines to the fence from its opening mark to its last line, a phase's to its heading."""
    read = made(WEEKLY)
    source = module_of(WEEKLY).source.splitlines()
    fence = next(entry for entry in read["source_map"] if entry["document"][0] == 31)
    assert fence["document"] == [31, 33]
    assert source[fence["generated"][0] - 1].strip() == r'"```yaml" "\n"'
    phase = next(entry for entry in read["source_map"] if entry["document"][0] == 41)
    assert source[phase["generated"][0] - 1].strip() == "Phase("
    assert made(SINGLE)["source_map"][0]["document"] == [1, 1]


def test_other_lines_change_the_manifest_and_not_the_module() -> None:
    """A comment above shifts lines: the module is the same, the manifest has the new ones (R1)."""
    moved = WEEKLY._replace(positions=tuple(Span(span.line + 5, *span[1:]) for span in WEEKLY.positions))
    assert module_of(moved) == module_of(WEEKLY)
    assert made(moved)["fences"][0]["line"] == made(WEEKLY)["fences"][0]["line"] + 5


def test_it_says_which_phases_have_code_of_another_generator() -> None:
    """Carried code is not of the generator that is named (R3)."""
    assert [phase["carried"] for phase in made(WEEKLY, (1,))["phases"]] == [False, True, False]
    assert made(WEEKLY)["versions"]["generator"] == {"name": "template", "version": "1", "model": ""}


def test_an_entry_is_a_line() -> None:
    """So that a diff shows what changed: every tool, operation, fence, phase and mapped range has a line of its own."""
    resolved = WEEKLY.resolved._replace(contracts=CONTRACTS)
    text = manifest("0" * 64, WEEKLY.parsed, resolved, WEEKLY.positions, module_of(WEEKLY), GENERATOR)
    read = json.loads(text)
    entries = sum(len(value) for value in read.values() if isinstance(value, list))
    assert text.count(b"\n") == entries + 2 + 4 + 2 * 5


def test_definitions_with_the_same_names_are_told_apart() -> None:
    """A library's documents may pin an operation before and after it changed."""
    pins = (Pin("exa", "web_search_exa", "read", "A", ""), Pin("exa", "web_search_exa", "read", "B", ""))
    texts = [
        made(WEEKLY._replace(resolved=WEEKLY.resolved._replace(pins=(pin,))))["operations"][0]["description"]
        for pin in pins
    ]
    assert texts == ["A", "B"]
