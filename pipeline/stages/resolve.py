"""Resolve: declarations to tools, hand-overs to operations, calls to documents (T1-T11, V1-V9, C1-C2, I2)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from catalog.model import Tool
from catalog.view import CatalogView
from pipeline.artifacts import (
    CallDeclaration,
    Contract,
    Grant,
    Handover,
    Item,
    ParsedDocument,
    Pin,
    ResolvedDocument,
    ResolvedPhase,
    Section,
    ToolDeclaration,
)
from pipeline.diagnostics.findings import Argument, Finding
from pipeline.garbage import uncollected
from pipeline.places import At
from pipeline.project import MAX_SUGGESTIONS, ProjectDocument, ProjectView
from pipeline.resolution.arguments import Scope
from pipeline.resolution.drifts import drifted
from pipeline.resolution.handovers import resolve_detached, resolve_handover
from pipeline.resolution.items import ItemFault, ItemReading, read_item
from pipeline.resolution.mentions import find_mentions
from pipeline.resolution.sparing import MOST_DOCUMENTS, MOST_WORDS, Allowance, SparingCatalog
from pipeline.stages import versions

VERSION = versions.RESOLVE
"""Raised whenever the same document, catalog and project may resolve to something else."""

Place = Literal["phase", "call", "outside"]

_Words: TypeAlias = tuple[str, str, str, tuple[str, ...], bool]
"""All that an item is read by: its declaration as written, text, head, groups, whether のみ stands there."""

ReadItem: TypeAlias = Callable[[Item, str, CatalogView], ItemReading]
"""`resolution.items.read_item`, or what does the same."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), sort_keys=True).encode


class ResolveOutcome(NamedTuple):
    artifact: ResolvedDocument
    findings: tuple[Finding, ...]


class _Resolver:
    def __init__(
        self, parsed: ParsedDocument, catalog: CatalogView, project: ProjectView, path: str, read: ReadItem
    ) -> None:
        self.parsed = parsed
        self.read_item = read
        self.catalog = SparingCatalog(catalog, Allowance(MOST_WORDS))
        self.project = project
        self.suggested = Allowance(MOST_DOCUMENTS)
        self.path = path
        self.single = parsed.kind == "single"
        self.findings: list[Finding] = []
        self.pins: dict[tuple[str, str], Pin] = {}
        self.contracts: dict[tuple[str, str], Contract] = {}
        self.tools: dict[str, Tool] = {}
        self.outside_values = Scope(parsed.outside.values)

    def resolve(self) -> ResolveOutcome:
        outside = self.parsed.outside
        if not self.single:
            self.read_tools(outside, "outside")
            self.read_calls_outside(outside)
            self.read_handovers(outside, "outside")
        phases = tuple([self.phase(section) for section in self.parsed.phases])
        if not any(phase.kind == "agent" for phase in phases):
            self.unreachable(outside, outside.fences, "no-agent")
        pins = tuple([self.pins[key] for key in sorted(self.pins)])
        contracts = tuple([self.contracts[key] for key in sorted(self.contracts)])
        artifact = ResolvedDocument(self.parsed.name, self.parsed.kind, phases, pins, contracts)
        return ResolveOutcome(artifact, tuple(self.findings))

    def report_fault(self, fault: ItemFault, anchor: int, section: Section) -> None:
        arguments, suggestions = fault.arguments, fault.suggestions
        self.findings.append(Finding(fault.name, At(anchor), section.number, arguments, suggestions, fault.variant))

    def report(self, name: str, anchor: int, section: Section, variant: str = "", **arguments: Argument) -> None:
        self.findings.append(Finding(name, At(anchor), section.number, tuple(arguments.items()), (), variant))

    # ---------------------------------------------------------------------------------------------- phases

    def phase(self, section: Section) -> ResolvedPhase:
        place: Place = "call" if section.calls else "phase"
        grants = self.read_tools(section, place)
        handovers = self.read_handovers(section, place)
        if place == "call":
            calls = self.read_calls(section)
            taken = {handover.fence for handover in section.handovers if handover.fence is not None and handover.closed}
            self.unreachable(section, tuple(f for f in section.fences if f not in taken), "call-phase")
            return ResolvedPhase(section.number, section.title, section.anchor, "call", calls, (), (), ())
        self.read_mentions(section)
        shared = self.parsed.outside.fences
        fences = tuple(sorted((*shared, *section.fences))) if shared else section.fences
        for handover in handovers:
            self.pin(handover.tool, handover.operations)
        self.findings += drifted(section, grants, handovers, self.tools, self.catalog)
        return ResolvedPhase(section.number, section.title, section.anchor, "agent", None, grants, fences, handovers)

    def unreachable(self, section: Section, fences: tuple[int, ...], variant: str) -> None:
        for fence in fences:
            self.report("fence-unreachable", self.parsed.fences[fence].anchor, section, variant)

    def pin(self, tool_name: str, operations: tuple[str, ...] | None) -> None:
        pins, contracts = _pinned(self.tools[tool_name], operations)
        self.pins.update(pins)
        self.contracts.update(contracts)

    # ----------------------------------------------------------------------------------------------- tools

    def read_tools(self, section: Section, place: Place) -> tuple[Grant, ...]:
        """The tools that the section's declarations attach: none outside all phases or in a calling phase (T10, C2)."""
        if not section.tools:
            return ()
        grants: dict[Grant, None] = {}
        nones: list[tuple[int, str]] = []
        only_nones = plain = True
        # Items of the same words in declarations of the same words share one reading, and so all that is said about
        # them: a document may have half a million items, and as many findings.
        known: dict[_Words, ItemReading] = {}
        for declaration in section.tools:
            attaches = False
            written = declaration.written
            for item in declaration.items:
                words = (written, item.text, item.head, item.groups, item.only)
                reading = known.get(words)
                if reading is None:
                    reading = known[words] = self.read_item(item, written, self.catalog)
                    if reading.tool is not None and not reading.faults:
                        self.tools[reading.tool.name] = reading.tool
                        grants[reading.grant()] = None
                        plain = plain and not reading.options
                if reading.none:
                    nones.append((item.anchor, written))
                    continue
                if not attaches and declaration.closed:
                    self.misplaced(declaration, section, place)
                attaches = True
                only_nones = False
                for fault in reading.faults:
                    self.report_fault(fault, item.anchor, section)
        if place != "outside" and not only_nones:
            for anchor, written in nones:
                self.report("none-with-tools", anchor, section, declaration=written)
        return self.attach(tuple(grants), plain) if place == "phase" and grants else ()

    def misplaced(self, declaration: ToolDeclaration, section: Section, place: Place) -> None:
        if place == "outside":
            variant = "list" if declaration.listed else ""
            self.report("declaration-outside-phase", declaration.anchor, section, variant, written=declaration.written)
        elif place == "call":
            self.report("call-with-tools", declaration.anchor, section, written=declaration.written)

    def attach(self, grants: tuple[Grant, ...], plain: bool) -> tuple[Grant, ...]:
        """What is to be known of them is noted; the grants, those narrowable that are so together. `plain`: none has
        options."""
        attached = _known_attached if plain and len(grants) <= _FEW else _attached
        grants, pins, contracts = attached(grants, tuple([self.tools[grant.tool] for grant in grants]))
        self.pins.update(pins)
        self.contracts.update(contracts)
        return grants

    # ------------------------------------------------------------------------------------------- hand-overs

    def read_handovers(self, section: Section, place: Place) -> tuple[Handover, ...]:
        if not section.handovers:
            return ()
        handovers: list[Handover] = []
        scopes = (Scope(section.values), self.outside_values)
        misplaced = {"outside": "handover-outside-phase", "call": "handover-in-call-phase"}.get(place)
        for declaration in section.handovers:
            if not declaration.closed:
                continue
            if declaration.fence is None:
                self.report_fault(resolve_detached(declaration, self.catalog), declaration.anchor, section)
                continue
            if misplaced or declaration.stacked:
                name = misplaced or "handover-stacked"
                self.report(name, declaration.anchor, section, written=declaration.written)
                continue
            fence = self.parsed.fences[declaration.fence]
            handover, faults = resolve_handover(declaration, fence, scopes, self.catalog)
            for fault in faults:
                self.report_fault(fault, declaration.anchor, section)
            tool = self.catalog.tool(handover.tool) if handover else None
            if handover is not None and tool is not None:
                self.tools[handover.tool] = tool
                handovers.append(handover)
        return tuple(handovers)

    # ------------------------------------------------------------------------------------- calls, mentions

    def read_calls(self, section: Section) -> str | None:
        """The name of the document that the section calls; None where the call is faulty (C1)."""
        result: str | None = None
        for index, call in enumerate(section.calls):
            if index:
                self.report("call-several", call.anchor, section, written=call.written)
            found = self.project.find(call.target, self.path) if call.target else ()
            if len(found) == 1:
                cycle = self.project.cycle(found[0], self.path)
                if cycle:
                    self.report("call-cycle", call.anchor, section, path=cycle)
                elif not index:
                    result = found[0].name
                continue
            self.report_fault(self.unknown(call, found), call.anchor, section)
        return result

    def unknown(self, call: CallDeclaration, found: tuple[ProjectDocument, ...]) -> ItemFault:
        """What is wrong with a call that leads to no document, or to several."""
        if not call.target:
            return ItemFault("call-unknown", "nameless", ())
        target: tuple[str, Argument] = ("target", call.target)
        if found:
            paths = tuple(document.path for document in found)
            return ItemFault("call-unknown", "several", (target, ("paths", paths)), paths[:MAX_SUGGESTIONS])
        suggestions = self.project.suggest(call.target) if self.suggested.covers(call.target) else ()
        return ItemFault("call-unknown", "", (target,), suggestions)

    def read_calls_outside(self, section: Section) -> None:
        for call in section.calls:
            self.report("declaration-outside-phase", call.anchor, section, "call", written=call.written)

    def read_mentions(self, section: Section) -> None:
        """A connector's name in a phase without any declaration (T9)."""
        if not section.mentionable:
            return
        for mention in find_mentions(section, self.catalog.connectors()):
            tool = self.catalog.tool(mention.name)
            example = f"{mention.name} の {tool.categories[0].name}" if tool and tool.categories else mention.name
            at = At(section.mention_anchor + mention.piece, mention.start, mention.end)
            arguments = (("tool", mention.name), ("example", example))
            variant = "single" if self.single else ""
            self.findings.append(Finding("tool-mentioned-undeclared", at, section.number, arguments, (), variant))


_Key: TypeAlias = tuple[str, str]
"""A tool and an operation."""


def _attached(
    grants: tuple[Grant, ...], tools: tuple[Tool, ...]
) -> tuple[tuple[Grant, ...], Mapping[_Key, Pin], Mapping[_Key, Contract]]:
    """A phase's grants, those narrowable that are so together, and what is to be known of their tools and operations.

    `tools`: each grant's.
    """
    pins: dict[_Key, Pin] = {}
    contracts: dict[_Key, Contract] = {}
    for grant, tool in zip(grants, tools, strict=True):
        own_pins, own_contracts = _pinned(tool, grant.operations)
        pins.update(own_pins)
        contracts.update(own_contracts)
    return _narrowable(grants, tools), pins, contracts


_known_attached = lru_cache(maxsize=256)(_attached)
"""The phases of a library have the same few tools."""

_FEW = 8
"""More grants, or some with options, which may be any text, are seldom the same twice, and should not be kept."""


def _narrowable(grants: tuple[Grant, ...], tools: tuple[Tool, ...]) -> tuple[Grant, ...]:
    """All categories of a connector, over the whole phase, are like none (T7)."""
    declared: dict[str, set[str]] = {}
    for grant in grants:
        if grant.categories and grant.kind != "standard":
            declared.setdefault(grant.tool, set()).update(grant.categories)
    whole = {
        tool.name
        for tool in set(tools)
        if tool.name in declared and all(category.name in declared[tool.name] for category in tool.categories)
    }
    return tuple([grant._replace(narrowable=True) if grant.tool in whole else grant for grant in grants])


@lru_cache(maxsize=1024)
def _pinned(tool: Tool, operations: tuple[str, ...] | None) -> tuple[Mapping[_Key, Pin], Mapping[_Key, Contract]]:
    """What is to be known of a tool and of those operations. Cached: the documents of a library use the same."""
    pins: dict[_Key, Pin] = {}
    contracts = {(tool.name, ""): Contract(tool.name, "", _reached(tool.kind, tool.definition))}
    wanted = frozenset(operations or ())
    for operation in tool.operations or ():
        key = tool.name, operation.name
        if operation.name in wanted:
            pins[key] = Pin(*key, operation.effect, operation.description, operation.schema)
            if operation.definition != "{}":
                contracts[key] = Contract(*key, operation.definition)
    return pins, contracts


@lru_cache(maxsize=256)
def _reached(kind: str, definition: str) -> str:
    """How a tool is reached, of its definition. Cached: the documents of a library use the same tools."""
    server = json.loads(definition).get("server")
    return _encode({"kind": kind} if server is None else {"kind": kind, "server": server})


def resolve(
    parsed: ParsedDocument, catalog: CatalogView, project: ProjectView, path: str, read: ReadItem = read_item
) -> ResolveOutcome:
    """`path`: the document's own, relative to the project's root. Reads nothing but its arguments."""
    with uncollected():  # what is resolved and found makes no cycles
        return _Resolver(parsed, catalog, project, path, read).resolve()
