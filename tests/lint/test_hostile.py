"""Schemas that are made to stall, exhaust or overflow whoever reads them are answered within bounds."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from catalog.lint.lint import lint
from catalog.nodes import Json

ROOT = Path(__file__).parents[2]
SECONDS = 60
"""Of a processor. Each takes a few seconds, most take milliseconds; what is not bounded takes years."""
MEGABYTES = 1_500


def tool(**schema: Json) -> dict[str, Json]:
    words: dict[str, Json] = {"name": "get_report", "description": "Returns one of the reports of last month."}
    return {**words, "inputSchema": {"type": "object", **schema}}


def doubling(keyword: str, **more: Json) -> dict[str, Json]:
    """Thirty definitions that each ask the next one ten times: 10 to the 30th in all."""
    definitions: dict[str, Json] = {"d30": {"type": "string"}}
    for i in range(30):
        definitions[f"d{i}"] = {keyword: [{"$ref": f"#/$defs/d{i + 1}"}] * 10, **more}
    return tool(properties={"a": {"$ref": "#/$defs/d0", "default": "x"}}, **{"$defs": definitions})


def chain(length: int, end: Json) -> dict[str, Json]:
    definitions: dict[str, Json] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(length)}
    return tool(properties={"a": {"$ref": "#/$defs/d0", "default": 1}}, **{"$defs": {**definitions, f"d{length}": end}})


def properties(count: int, schema: Json) -> dict[str, Json]:
    return tool(properties={f"p{i}": schema for i in range(count)})


def text(**more: Json) -> dict[str, Json]:
    return {"type": "string", **more}


def alike(count: int) -> Json:
    said = "Returns the report with number {} of last month's reports."
    return [{"name": f"get_{i}", "description": said.format(i), "inputSchema": {}} for i in range(count)]


OVERLAPPING = "|".join("a" * k for k in range(1, 80))

HOSTILE: dict[str, tuple[Json, str]] = {
    "allOf that multiplies": (doubling("allOf"), "TSL128"),
    "anyOf that multiplies": (doubling("anyOf"), "TSL128"),
    "oneOf that multiplies, unevaluated": (doubling("oneOf", unevaluatedProperties=False), "TSL128"),
    "a reference to itself": (tool(**{"$ref": "#"}), "TSL123"),
    "a long chain of references": (chain(20_000, {"type": "string"}), "TSL305"),
    "a long circle of references": (chain(20_000, {"$ref": "#/$defs/d0"}), "TSL123"),
    "a recursive default": (tool(properties={"a": {"$ref": "#", "default": {"a": {"a": {}}}}}), "TSL208"),
    "catastrophic patterns": (properties(500, text(pattern="^(a+)+$", default="a" * 5_000 + "!")), "TSL126"),
    "overlapping alternatives": (properties(500, text(pattern=f"({OVERLAPPING})*x")), "TSL127"),
    "a repetition of a repetition": (properties(50, text(pattern="(a{1,1000}){1,1000}", default="a")), "TSL126"),
    "repetitions that multiply": (properties(50, text(pattern="((((a{7}){7}){7}){7})", default="a")), "TSL127"),
    "a huge enum": (tool(properties={"a": {"type": "integer", "enum": [f"v{i}" for i in range(100_000)]}}), "TSL116"),
    "a huge enum of what is equal": (tool(properties={"a": {"enum": [1] * 100_000}}), "TSL312"),
    "a default with many entries": (
        properties(1, {"type": "array", "uniqueItems": True, "items": {}, "default": [[i] for i in range(100_000)]}),
        "TSL210",
    ),
    "required of all kinds": (tool(required=[{"a": i} for i in range(50_000)]), "TSL112"),
    "required again and again": (tool(required=["a"] * 100_000), "TSL114"),
    "many branches": (tool(allOf=[{"required": ["a"], "properties": {"a": text()}}] * 10_000), "TSL208"),
    "many arguments": (properties(20_000, text()), "TSL209"),
    "long texts": (properties(3, {"description": "sk-" * 500_000 + "eyJ-" * 500_000}), "TSL309"),
    "a long name": ({**tool(), "name": "get_" * 500_000}, "TSL105"),
    "many tools alike": (alike(5_000), "TSL111"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_schema_is_answered_in_time(name: str) -> None:
    """By the rule that is there for it, or by others."""
    value, rule = HOSTILE[name]
    started = time.process_time()
    report = lint(value)
    assert time.process_time() - started < SECONDS
    assert rule in {finding.rule.id for finding in report.findings}


PATTERNS = """
import json
text = {"type": "string", "default": "a-1"}
properties = {f"p{i}": {**text, "pattern": f"^[a-z]{{1,{i % 50 + 1}}}-{i}$"} for i in range(60_000)}
schema = {"type": "object", "properties": properties}
print(json.dumps({"name": "get_a", "description": "Returns an a.", "inputSchema": schema}))
"""

LARGE: dict[str, tuple[str, int]] = {
    "deep": ("print('[' * 100_000 + ']' * 100_000)", 1),
    "deep and unclosed": ("print('[' * 100_000)", 2),
    "deep objects": ("""print('{"a":' * 100_000 + '1' + '}' * 100_000)""", 1),
    "10 MB of text": ("""print('"' + 'a' * 10_000_000 + '"')""", 1),
    "10 MB of zeros": ("print('[' + '0,' * 5_000_000 + '0]')", 1),
    "blanks only": ("print(chr(10) * 8_000_000)", 2),
    "the largest that is read": (PATTERNS, 1),
}


@pytest.mark.parametrize(("program", "status"), list(LARGE.values()), ids=list(LARGE))
def test_the_largest_and_deepest_inputs_take_bounded_time_and_memory(program: str, status: int, tmp_path: Path) -> None:
    """In a process of its own, whose memory can be measured."""
    file = tmp_path / "tools.json"
    file.write_bytes(subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout)
    limit = MEGABYTES * 2**20
    done = subprocess.run(
        [sys.executable, "-m", "catalog.lint", str(file), "--format", "json"],
        cwd=ROOT,
        capture_output=True,
        timeout=SECONDS * 20,  # of the clock, on a busy machine
        check=False,
        preexec_fn=lambda: (
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS)),
        ),
    )
    assert done.returncode == status, done.stderr[-2_000:]
    if status == 1:
        assert json.loads(done.stdout)["findings"]
    else:
        assert done.stdout == b""
        assert b"JSON" in done.stderr
