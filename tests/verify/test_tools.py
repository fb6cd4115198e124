"""The attached tools are exactly the allowed ones (I3, T7, T8, T11)."""

from __future__ import annotations

import pytest

from pipeline.artifacts import Fault, Grant, PhaseCode
from pipeline.generators.source import render_phase
from pipeline.stages.generate import units_of
from pipeline.stages.link import link
from pipeline.stages.verify import verify
from tests.generate.samples import BROWSER, CRM, EXA, FREEE, HITL, SLACK, Document, Step, document


def attached(sample: Document, *grants: Grant) -> tuple[Fault, ...]:
    """The verdict on a generator that attaches these to the document's one phase."""
    unit = units_of(sample.parsed, sample.resolved)[0]
    assert unit is not None
    code: PhaseCode = render_phase(unit, ["読む。"], grants)
    module = link(sample.parsed, sample.resolved, [code])
    source = module.source.replace(
        next(line for line in module.source.splitlines() if line.startswith("from ")),
        "from aop_runtime import Http, Mcp, Phase, Procedure, Standard",
    )
    return verify(source, sample.parsed, sample.resolved).faults


ALL = (SLACK, EXA, FREEE, CRM, BROWSER, HITL)


def test_exactly_the_declared_tools_are_proven() -> None:
    """Connectors by MCP and HTTP, an added server, standard tools; their order does not matter."""
    sample = document(Step("集める", (), ALL))
    assert attached(sample, *ALL) == ()
    assert attached(sample, *reversed(ALL)) == ()


UNDECLARED = {
    "a connector": EXA,
    "an HTTP connector": FREEE,
    "an added server": CRM,
    "a browser": BROWSER,
    "a standard tool": HITL,
}


@pytest.mark.parametrize("grant", UNDECLARED.values(), ids=UNDECLARED.keys())
def test_an_undeclared_tool_is_refused(grant: Grant) -> None:
    """Nothing that the document does not declare for the phase, in a phase with tools and in one without."""
    for declared in ((), (SLACK,)):
        found = attached(document(Step("集める", (), declared)), *declared, grant)
        assert [(fault.kind, fault.phase) for fault in found] == [("tools", 0)]
        assert found[0].detail == f"{grant.tool} is attached, but not declared"


def test_a_tool_of_another_phase_is_undeclared_here() -> None:
    """What one phase declares another may not have."""
    sample = document(Step("集める", (), (SLACK,)), Step("送る", (), (EXA,), number=2))
    units = units_of(sample.parsed, sample.resolved)
    codes = [render_phase(unit, ["読む。"], (SLACK, EXA)) for unit in units if unit is not None]
    found = verify(link(sample.parsed, sample.resolved, codes).source, sample.parsed, sample.resolved).faults
    assert [(fault.kind, fault.phase, fault.detail.split()[0]) for fault in found] == [
        ("tools", 0, "exa"),
        ("tools", 1, "slack"),
    ]


CHANGED = {
    "writes instead of reads": (EXA, EXA._replace(read_only=False)),
    "reads instead of writes": (FREEE, FREEE._replace(read_only=True)),
    "another category": (EXA, EXA._replace(categories=("crawl",))),
    "no category": (EXA, EXA._replace(categories=())),
    "a further category": (EXA, EXA._replace(categories=("web", "crawl"))),
    "another kind": (EXA, EXA._replace(kind="http")),
    "an operation more": (EXA, EXA._replace(operations=("web_search_exa", "crawl_exa"))),
    "another operation": (EXA, EXA._replace(operations=("crawl_exa",))),
    "an operation less": (FREEE, FREEE._replace(operations=("list_deals",))),
    "no operation": (FREEE, FREEE._replace(operations=())),
    "an operation twice": (EXA, EXA._replace(operations=("web_search_exa", "web_search_exa"))),
    "all operations": (EXA, EXA._replace(operations=None)),
    "listed operations of an unknown server": (CRM, CRM._replace(operations=("read_all",))),
    "a granted word more": (BROWSER, BROWSER._replace(operations=("read", "navigation", "interact"))),
    "a granted word less": (BROWSER, BROWSER._replace(operations=("read",))),
    "another option": (BROWSER, BROWSER._replace(options=(("profile", "admin"),))),
    "no option": (BROWSER, BROWSER._replace(options=())),
    "an operation more of a narrowable tool": (SLACK, SLACK._replace(operations=("post_message", "delete_channel"))),
}


@pytest.mark.parametrize(("declared", "given"), CHANGED.values(), ids=CHANGED.keys())
def test_a_tool_attached_otherwise_than_declared_is_refused(declared: Grant, given: Grant) -> None:
    """Name, kind, categories, read-only, operations and options are those of the declaration (T7, T8)."""
    found = attached(document(Step("集める", (), (declared,))), given)
    assert found
    assert {(fault.kind, fault.phase) for fault in found} == {("tools", 0)}


def test_a_narrowable_tool_may_have_fewer_operations() -> None:
    """Where no category or all of them are declared, a generator may narrow (T7), down to nothing; elsewhere it may
    not."""
    sample = document(Step("集める", (), (SLACK,)))
    assert attached(sample, SLACK._replace(operations=("post_message",))) == ()
    assert attached(sample, SLACK._replace(operations=())) == ()
    fixed = SLACK._replace(narrowable=False)
    assert attached(document(Step("集める", (), (fixed,))), fixed._replace(operations=("post_message",)))


def test_a_declared_tool_must_be_attached_once() -> None:
    """Neither left out nor attached twice."""
    sample = document(Step("集める", (), (SLACK, HITL)))
    assert [fault.detail for fault in attached(sample, SLACK)] == ["hitl is declared, but not attached as declared"]
    assert [fault.detail for fault in attached(sample, SLACK, HITL, HITL)] == [
        "hitl is attached otherwise than declared, or more often"
    ]


def test_two_declarations_of_one_tool_are_two_entries() -> None:
    """The same tool with different categories keeps both, each with its own read-only (T7)."""
    read, write = EXA._replace(categories=("crawl",), operations=("crawl_exa",)), EXA._replace(read_only=False)
    sample = document(Step("集める", (), (read, write)))
    assert attached(sample, read, write) == ()
    assert attached(sample, read._replace(read_only=False), write._replace(read_only=True))


def test_operations_may_stand_in_any_order() -> None:
    """They are a set; the generator's order is its own."""
    assert (
        attached(document(Step("集める", (), (FREEE,))), FREEE._replace(operations=("create_deal", "list_deals"))) == ()
    )
