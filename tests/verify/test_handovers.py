"""The dedicated tools are exactly those of the hand-over declarations, their texts included (I3, V9)."""

from __future__ import annotations

import pytest

from pipeline.artifacts import Fault
from pipeline.stages.verify import verify
from tests.generate.samples import Code, Document, Hand, Step, document, module_of

QUERY = Hand(
    0,
    "bigquery",
    ("query",),
    True,
    "argument",
    ("run_query",),
    "sql",
    '{"limit":10,"dry":true,"ids":[1,-2.5]}',
    ("<日>",),
)
BODY = (Code("select '<日>' \n", "sql"), Code("f();\n", "ts"))
SAMPLE = document(Step("数える", BODY, (), (QUERY, Hand(1))))
SOURCE = module_of(SAMPLE).source


def faults(source: str, sample: Document = SAMPLE) -> tuple[Fault, ...]:
    return verify(source, sample.parsed, sample.resolved).faults


def changed(old: str, new: str) -> str:
    """The module with the last `old` replaced; `old` must be there."""
    head, found, tail = SOURCE.rpartition(old)
    assert found
    return head + new + tail


def test_declared_handovers_are_proven() -> None:
    """As an argument with fixed arguments and a placeholder, and as TypeScript."""
    assert faults(SOURCE) == ()


WRONG = {
    "a text without its trailing blank": changed("select '<日>' \"", "select '<日>'\""),
    "a text with a character changed": changed("select '<日>'", "select '<月>'"),
    "a text without its line end": changed('"f();" "\\n"', '"f();"'),
    "a text with a line more": changed('"f();" "\\n"', '"f();" "\\n" "g();" "\\n"'),
    "an empty text": changed('"f();" "\\n"', '""'),
    "another tool": changed('tool="bigquery"', 'tool="slack"'),
    "another name": changed('name="handover_1"', 'name="slack"'),
    "two of one name": changed('name="handover_2"', 'name="handover_1"'),
    "writes instead of reads": changed("read_only=True", "read_only=False"),
    "another category": changed('categories=("query",)', 'categories=("admin",)'),
    "no category": changed('categories=("query",),', ""),
    "another mode": changed('mode="argument"', 'mode="typescript"'),
    "another operation": changed('operations=("run_query",)', 'operations=("run_dml",)'),
    "an operation more": changed('operations=("run_query",)', 'operations=("run_query", "run_dml")'),
    "all operations": changed('operations=("run_query",)', "operations=None"),
    "another argument": changed('argument="sql"', 'argument="project_id"'),
    "no argument": changed('argument="sql",', ""),
    "another fixed argument": changed('"limit": 10', '"limit": 11'),
    "a fixed argument of another type": changed('"dry": True', '"dry": 1'),
    "an integer as a float": changed('"limit": 10', '"limit": 10.0'),
    "a fixed argument more": changed('"limit": 10', '"limit": 10, "write": True'),
    "a fixed argument less": changed('"limit": 10, ', ""),
    "no fixed arguments": changed('fixed_arguments={"limit": 10, "dry": True, "ids": [1, -2.5]},', ""),
    "another placeholder": changed('placeholders=("<日>",)', 'placeholders=("日",)'),
    "a placeholder more": changed('placeholders=("<日>",)', 'placeholders=("<日>", "select")'),
    "no placeholder": changed('placeholders=("<日>",),', ""),
}


@pytest.mark.parametrize("source", WRONG.values(), ids=WRONG.keys())
def test_a_handover_that_differs_is_refused(source: str) -> None:
    """Every part of the dedicated tool is as resolved, to the character and to the type. Carried code is
    regenerated."""
    found = faults(source)
    assert [(fault.kind, fault.phase) for fault in found] == [("tools", 0)]


FORM = {
    "a number that cannot be written in decimal digits": changed('"limit": 10', f'"limit": 0x1{"0" * 20_000}'),
    "a computed fixed argument": changed('"limit": 10', '"limit": 5 * 2'),
    "a name as fixed argument": changed('"limit": 10', '"limit": limit'),
    "a key twice": changed('"limit": 10', '"limit": 10, "limit": 10'),
    "a key that is no string": changed('"limit": 10', '1: 10, "limit": 10'),
    "an unpacked dict": changed('"limit": 10', '**{"limit": 10}'),
    "a dict comprehension": changed('{"limit": 10, "dry": True, "ids": [1, -2.5]}', '{k: 10 for k in ("limit",)}'),
    "a list for the dict": changed('{"limit": 10, "dry": True, "ids": [1, -2.5]}', "[]"),
    "a complex number": changed('"limit": 10', '"limit": -10j'),
    "bytes": changed('"limit": 10', '"limit": b"x"'),
    "no text": changed('text=(\n                        "f();" "\\n"\n                    ),', ""),
    "no read-only": changed("read_only=True,", ""),
    "a tool among the hand-overs": changed("Handover(", "Mcp("),
}


@pytest.mark.parametrize("source", FORM.values(), ids=FORM.keys())
def test_a_handover_that_is_no_literal_is_refused(source: str) -> None:
    """Only constants, lists and dicts with string keys, each once."""
    assert {(fault.kind, fault.phase) for fault in faults(source)} == {("form", 0)}


def handovers(*parts: str) -> str:
    """The module with these hand-overs: `1` and `2` are the declared ones."""
    start, end = SOURCE.index("                Handover("), SOURCE.index("            ),\n        ),\n    ),")
    first, second = [
        f"                Handover({part}" for part in SOURCE[start:end].split("                Handover(")[1:]
    ]
    return SOURCE[:start] + "".join([{"1": first, "2": second}[part] for part in parts]) + SOURCE[end:]


def test_handovers_are_complete_in_order_and_no_more() -> None:
    """A missing one, a further one and two that changed places are refused."""
    assert faults(handovers("1", "2")) == ()
    for parts in (("1",), (), ("2", "1"), ("1", "2", "2"), ("1", "1")):
        assert {(fault.kind, fault.phase) for fault in faults(handovers(*parts))} == {("tools", 0)}


def test_a_handover_in_a_phase_without_a_declaration_is_refused() -> None:
    """It would be an undeclared connector."""
    plain = document(Step("数える", BODY))
    assert [(fault.kind, fault.phase) for fault in faults(SOURCE, plain)] == [("tools", 0)]
