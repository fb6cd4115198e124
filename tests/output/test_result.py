"""The result (O2): one shape for the command line, HTTP and MCP."""

from __future__ import annotations

import json
from typing import Literal

from pipeline.compilation import Compilation, Made
from pipeline.incremental.report import StageReport
from pipeline.result import instructions_of, result
from tests.generate.samples import CRM, WEEKLY, Code, Document, Hand, Step, document, evaluate, module_of

REPORTS = (StageReport("parse", None, "ran", "new"), StageReport("generate", 1, "reused", "same"))


def compilation(sample: Document | None, *, failed: bool = False) -> Compilation:
    """A compile that came to these artifacts; None: of an unreadable document."""
    module = None if sample is None or failed else module_of(sample)
    positions = () if sample is None else sample.positions
    parsed, resolved = (None, None) if sample is None else (sample.parsed, sample.resolved)
    made = Made(REPORTS, (), positions, parsed, resolved, module)
    kind, name = (None, "weekly") if sample is None else (sample.parsed.kind, sample.parsed.name)
    status: Literal["succeeded", "failed"] = "failed" if failed or sample is None else "succeeded"
    return Compilation("weekly.md", "0" * 64, status, kind, name, None, made)


def test_the_shape_is_complete_and_in_order() -> None:
    """Keys and their order, at every level."""
    found = result(compilation(WEEKLY), [], "build/weekly")
    assert list(found) == ["status", "document", "diagnostics", "phases", "stages"]
    assert found["document"] == {
        "name": "週次報告",
        "path": "weekly.md",
        "sha256": "0" * 64,
        "kind": "multi",
        "output": "build/weekly",
    }
    assert found["stages"][1] == {"stage": "generate", "phase": 1, "outcome": "reused", "reason": "same"}
    keys = ["number", "title", "line", "kind", "calls", "tools", "fences", "handovers", "instructions"]
    assert [list(phase) for phase in found["phases"]] == [keys] * 3
    assert json.loads(json.dumps(found)) == found


def test_a_phase_has_its_tools_fences_and_handovers_with_lines() -> None:
    """As resolved, fences in the order of the document."""
    first, second, third = result(compilation(WEEKLY), [], None)["phases"]
    assert (first["number"], first["title"], first["line"], first["kind"], first["calls"]) == (
        1,
        "集める",
        21,
        "agent",
        None,
    )
    assert first["tools"] == [
        {
            "tool": "slack",
            "kind": "mcp",
            "categories": ["notify", "history"],
            "read_only": False,
            "operations": ["post_message", "search_messages"],
            "options": {},
        },
        {"tool": "hitl", "kind": "standard", "categories": [], "read_only": False, "operations": [], "options": {}},
    ]
    assert first["fences"] == [
        {"line": 11, "language": "text", "text": "口調は「です・ます」\n"},
        {"line": 31, "language": "yaml", "text": "from: 月曜\n  to: 日曜 \n"},
    ]
    assert second["handovers"] == [
        {
            "line": 61,
            "tool": "exa",
            "mode": "typescript",
            "operations": ["web_search_exa"],
            "argument": None,
            "fixed_arguments": {},
            "placeholders": ["<語>"],
        }
    ]
    assert (third["kind"], third["calls"], third["instructions"], third["fences"]) == ("call", "請求", None, [])


def test_instructions_are_what_python_evaluates() -> None:
    """They are read from the module, which is what will run."""
    module = module_of(WEEKLY)
    assert instructions_of(module) == [phase.instructions for phase in evaluate(module.source).phases]
    assert result(compilation(WEEKLY), [], None)["phases"][1]["instructions"] == instructions_of(module)[1]


def test_a_failed_compile_has_its_phases_as_far_as_they_are_resolved() -> None:
    """Without instructions, and without output."""
    found = result(compilation(WEEKLY, failed=True), [], None)
    assert found["status"] == "failed"
    assert [phase["instructions"] for phase in found["phases"]] == [None] * 3
    assert found["phases"][0]["tools"]


def test_an_unreadable_document_has_no_kind_and_no_phases() -> None:
    """Its name is its file's."""
    found = result(compilation(None), [], None)
    assert found["document"]["kind"] is None
    assert found["document"]["name"] == "weekly"
    assert found["phases"] == []


def test_a_single_phase_document_begins_on_line_1() -> None:
    """One entry without a number, with the document's name as title; unknown operations are null."""
    hand = Hand(0, "my_crm", (), True, "typescript", None)
    sample = document(Step("点検", (Code("f();\n", "ts"),), (CRM,), (hand,), number=None), name="点検")
    (phase,) = result(compilation(sample), [], None)["phases"]
    assert (phase["number"], phase["title"], phase["line"]) == (None, "点検", 1)
    assert phase["tools"][0]["operations"] is None
    assert phase["handovers"][0]["operations"] is None


def test_what_is_too_large_for_a_module_is_no_larger_in_the_result() -> None:
    """A fence outside all phases would be listed once a phase: where all instructions together exceed what a module may
    have, and there are none, each phase lists the fences that stand in it."""
    steps = [Step("書く", (Code(f"{number}\n"),), number=number) for number in range(200)]
    small = document(*steps, outside=(Code("あ" * 1_000 + "\n"),))
    large = document(*steps, outside=(Code("あ" * 100_000 + "\n"),))
    assert [len(phase["fences"]) for phase in result(compilation(small, failed=True), [], None)["phases"]] == [2] * 200
    phases = result(compilation(large, failed=True), [], None)["phases"]
    assert [[fence["text"] for fence in phase["fences"]] for phase in phases] == [[f"{n}\n"] for n in range(200)]
