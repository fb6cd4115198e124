"""Documents as the resolve stage hands them on, built by hand: what is generated from them is the subject here, not
parsing."""

from __future__ import annotations

import runpy
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from aop_runtime import Procedure
from pipeline.artifacts import (
    Fence,
    Grant,
    Handover,
    HandoverDeclaration,
    Module,
    ParsedDocument,
    PhaseCode,
    Pin,
    ResolvedDocument,
    ResolvedPhase,
    Section,
    Segment,
)
from pipeline.generators.template import TemplateGenerator
from pipeline.places import Positions, Span
from pipeline.stages.generate import units_of
from pipeline.stages.link import link

SEARCH = Pin("exa", "web_search_exa", "read", "Search the web.", '{"type":"object"}')
POST = Pin(
    "slack", "post_message", "write", "Post a message.", '{"properties":{"text":{"type":"string"}},"type":"object"}'
)
HISTORY = Pin("slack", "search_messages", "read", "Search\n messages.", "")

SLACK = Grant("slack", "mcp", ("notify", "history"), False, ("post_message", "search_messages"), (), True)
EXA = Grant("exa", "mcp", ("web",), True, ("web_search_exa",), ())
FREEE = Grant("freee", "http", ("deals",), False, ("list_deals", "create_deal"), ())
CRM = Grant("my_crm", "mcp", (), True, None, ())
BROWSER = Grant("browser", "standard", ("read",), False, ("read", "navigation"), (("profile", "github-login"),))
HITL = Grant("hitl", "standard", (), False, (), ())


@dataclass(frozen=True)
class Code:
    """A fence, among the texts of a body."""

    text: str
    language: str | None = "text"


@dataclass(frozen=True)
class Hand:
    """A hand-over of the phase's fence number `fence`, counted from 0."""

    fence: int = 0
    tool: str = "exa"
    categories: tuple[str, ...] = ("web",)
    read_only: bool = True
    mode: Literal["typescript", "argument"] = "typescript"
    operations: tuple[str, ...] | None = ("web_search_exa",)
    argument: str | None = None
    fixed_arguments: str = "{}"
    placeholders: tuple[str, ...] = ()
    written: str = "(この TypeScript を exa の web (read-only) に、そのまま渡す)"


@dataclass(frozen=True)
class Step:
    """A phase: `number` None for the one of a single-phase document."""

    title: str = "集める"
    body: tuple[str | Code, ...] = ()
    tools: tuple[Grant, ...] = ()
    handovers: tuple[Hand, ...] = ()
    number: int | None = 1
    calls: str | None = None


class Document(NamedTuple):
    parsed: ParsedDocument
    resolved: ResolvedDocument
    positions: Positions


def document(*steps: Step, outside: Sequence[str | Code] = (), name: str = "週次報告") -> Document:
    """The document with these phases, everything outside them first; each anchor is on a line of its own, ten apart."""
    fences: list[Fence] = []
    positions: list[Span] = []

    def anchor() -> int:
        positions.append(Span(10 * len(positions) + 1, 1, 10 * len(positions) + 1, 8))
        return len(positions) - 1

    def body_of(pieces: Sequence[str | Code]) -> tuple[tuple[Segment, ...], tuple[int, ...]]:
        body: list[Segment] = []
        own: list[int] = []
        for piece in pieces:
            if isinstance(piece, str):
                body.append(piece)
                continue
            fences.append(Fence(piece.language, piece.text, anchor()))
            if not fences[-1].blank:
                own.append(len(fences) - 1)
                body.append(own[-1])
        return tuple(body), tuple(own)

    origin = anchor()
    shared_body, shared = body_of(outside)
    sections, phases = [], []
    for step in steps:
        place = origin if step.number is None else anchor()
        body, own = body_of(step.body)
        declared = tuple(
            HandoverDeclaration(hand.written, anchor(), own[hand.fence], False, True, (), None)
            for hand in step.handovers
        )
        sections.append(Section(step.number, step.title, place, body, own, (), (), declared, (), 0, ()))
        handovers = tuple(
            Handover(
                hand.tool,
                hand.categories,
                hand.read_only,
                hand.mode,
                hand.operations,
                hand.argument,
                hand.fixed_arguments,
                hand.placeholders,
                own[hand.fence],
                declaration.anchor,
            )
            for hand, declaration in zip(step.handovers, declared, strict=True)
        )
        kind: Literal["agent", "call"] = "agent" if step.calls is None else "call"
        reach = () if kind == "call" else tuple(sorted((*shared, *own)))
        phases.append(ResolvedPhase(step.number, step.title, place, kind, step.calls, step.tools, reach, handovers))
    document_kind: Literal["multi", "single"] = "single" if steps and steps[0].number is None else "multi"
    outside_section = Section(None, "", origin, shared_body, shared, (), (), (), (), 0, ())
    parsed = ParsedDocument(name, document_kind, tuple(fences), outside_section, tuple(sections))
    resolved = ResolvedDocument(name, document_kind, tuple(phases), (SEARCH, POST, HISTORY))
    return Document(parsed, resolved, tuple(positions))


def codes_of(sample: Document) -> list[PhaseCode | None]:
    generator = TemplateGenerator()
    units = units_of(sample.parsed, sample.resolved)
    return [None if unit is None else generator.generate(unit, ()) for unit in units]


def module_of(sample: Document) -> Module:
    """What the template generator and link make of it."""
    return link(sample.parsed, sample.resolved, codes_of(sample))


def evaluate(source: str) -> Procedure:
    """The module's PROCEDURE, as Python evaluates the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "procedure.py"
        path.write_bytes(source.encode())
        procedure = runpy.run_path(str(path))["PROCEDURE"]
    assert isinstance(procedure, Procedure)
    return procedure


WEEKLY = document(
    Step(
        "集める",
        ("先週の投稿を読む。", Code("from: 月曜\n  to: 日曜 \n", "yaml"), "足りなければ人に聞く。"),
        (SLACK, HITL),
        number=1,
    ),
    Step(
        "調べる",
        ("(この TypeScript を exa の web (read-only) に、そのまま渡す)", Code('find("<語>");\n', "ts")),
        (),
        (Hand(placeholders=("<語>",)),),
        number=2,
    ),
    Step("請求する", number=3, calls="請求"),
    outside=("# 週次報告", Code("口調は「です・ます」\n"), "## 成果物\n\n一枚に収める。"),
)
"""A small document with one of everything."""
