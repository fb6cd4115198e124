"""Verify: the generated module itself against the document (I3, T7, V9).

It trusts no generator, and not link either: so it has its own words for what must stand in a module.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from pipeline.artifacts import Fault, Grant, Handover, ParsedDocument, ResolvedDocument, ResolvedPhase, Verdict
from pipeline.stages import versions
from pipeline.verifier.fences import missing_fences
from pipeline.verifier.reading import DeclaredPhase, FormError, HandoverTool, Tool, read_module

VERSION = versions.VERIFY
"""Raised whenever the same module and document may get another verdict."""

_CONSTRUCTORS = {"mcp": "Mcp", "http": "Http", "standard": "Standard"}


def verify(source: str, parsed: ParsedDocument, resolved: ResolvedDocument) -> Verdict:
    """Whether `source` declares exactly what the document does. Any text gets a verdict, in linear time."""
    try:
        module = read_module(source, lambda: _most_code(resolved))
    except FormError as error:
        return Verdict((Fault("form", None, str(error)),))
    faults: list[Fault] = []
    if module.name != resolved.name:
        faults.append(Fault("form", None, f"the procedure is called {module.name!r}, not {resolved.name!r}"))
    if len(module.phases) != len(resolved.phases):
        counts = f"{len(module.phases)} phases, where the document has {len(resolved.phases)}"
        faults.append(Fault("form", None, f"the procedure has {counts}"))
    for place, (declared, phase) in enumerate(zip(module.phases, resolved.phases, strict=False)):
        if isinstance(declared, FormError):
            faults.append(Fault("form", place, str(declared)))
        else:
            faults.extend(_phase(place, declared, phase, parsed))
    return Verdict(tuple(faults))


def _most_code(resolved: ResolvedDocument) -> int:
    """More characters outside strings than link and any formatter could need for this document."""
    entries, names = len(resolved.phases), 0
    for phase in resolved.phases:
        entries += len(phase.tools) + len(phase.handovers)
        for grant in phase.tools:
            names += len(grant.operations or ()) + len(grant.categories) + len(grant.options)
        for handover in phase.handovers:
            names += len(handover.operations or ()) + len(handover.categories) + len(handover.placeholders)
            names += len(handover.fixed_arguments)
    return (1 << 16) + 512 * entries + 8 * names


def _phase(place: int, declared: DeclaredPhase, phase: ResolvedPhase, parsed: ParsedDocument) -> list[Fault]:
    faults = [Fault("form", place, detail) for detail in _identity(declared, phase)]
    faults += [Fault("tools", place, detail) for detail in _tools(declared.tools, phase.tools)]
    if declared.handovers or phase.handovers:
        wrong = _handovers(declared.handovers, phase.handovers, parsed)
        faults += [Fault("tools", place, detail) for detail in wrong]
    if phase.fences:
        expected = [(fence, parsed.fences[fence].text) for fence in phase.fences]
        for fence in missing_fences(declared.instructions or "", expected):
            detail = "a fence is not in the instructions word for word, between fence marks"
            faults.append(Fault("fence", place, detail, fence))
    return faults


def _identity(declared: DeclaredPhase, phase: ResolvedPhase) -> list[str]:
    wrong: list[str] = []
    if declared.number != phase.number:
        wrong.append(f"the phase's number is {declared.number}, not {phase.number}")
    if declared.title != phase.title:
        wrong.append(f"the phase's title is {declared.title!r}, not {phase.title!r}")
    if declared.calls != phase.calls:
        wrong.append(f"the phase calls {declared.calls!r}, not {phase.calls!r}")
    if (declared.instructions is None) != (phase.kind == "call"):
        wrong.append("a phase has instructions exactly if it calls no other procedure")
    return wrong


# -------------------------------------------------------------------------------------------------- tools


def _tools(attached: tuple[Tool, ...], granted: tuple[Grant, ...]) -> list[str]:
    """Each attached entry must be one that is granted, and each granted one must be attached."""
    wrong: list[str] = []
    known: set[str] = set()
    open_grants: dict[tuple[object, ...], Grant] = {}
    for grant in granted:
        name, kind, categories, read_only, _, options, _ = grant
        open_grants[_CONSTRUCTORS[kind], name, categories, read_only, options] = grant
    for tool in attached:
        found = open_grants.pop((*tool[:4], tuple(tool.options.items())), None)
        if found is None:
            known = known or {grant.tool for grant in granted}
            how = " otherwise than declared, or more often" if tool.tool in known else ", but not declared"
            wrong.append(f"{tool.tool} is attached{how}")
        elif tool.operations != found.operations:
            wrong += _operations(tool.tool, tool.operations, found.operations, found.narrowable)
    wrong += [f"{grant.tool} is declared, but not attached as declared" for grant in open_grants.values()]
    return wrong


def _operations(
    tool: str, attached: tuple[str, ...] | None, allowed: tuple[str, ...] | None, narrowable: bool
) -> Iterator[str]:
    """What is wrong where the two differ. `narrowable`: fewer than the allowed ones will do (T7). None: whatever the
    server offers, not narrowed (T11)."""
    if attached is None or allowed is None:
        yield f"{tool}: the operations are {_listed(attached)}, not {_listed(allowed)}"
        return
    extra, lacking = set(attached).difference(allowed), set(allowed).difference(attached)
    if extra:
        yield f"{tool}: operations that are not allowed: {_listed(tuple(sorted(extra)))}"
    if lacking and not narrowable:
        yield f"{tool}: operations that are missing: {_listed(tuple(sorted(lacking)))}"
    if len(set(attached)) < len(attached):
        yield f"{tool}: an operation stands there twice"


def _listed(operations: tuple[str, ...] | None) -> str:
    return "not listed" if operations is None else ", ".join(operations) or "none"


# ---------------------------------------------------------------------------------------------- hand-overs


def _handovers(
    attached: tuple[HandoverTool, ...], declared: tuple[Handover, ...], parsed: ParsedDocument
) -> Iterator[str]:
    """The dedicated tools, one for each declaration and in their order, each exactly as resolved, text included."""
    if len(attached) != len(declared):
        yield f"{len(attached)} hand-overs are attached, {len(declared)} are declared"
    for number, (tool, handover) in enumerate(zip(attached, declared, strict=False), 1):
        wrong = [field for field, value in _resolved(number, handover, parsed) if getattr(tool, field) != value]
        # Compared as JSON: True is not 1 there, and 1 not 1.0.
        if _canonical(tool.fixed_arguments) != _canonical(json.loads(handover.fixed_arguments)):
            wrong.append("fixed_arguments")
        if wrong:
            yield f"hand-over {number} to {handover.tool} is not as declared: {', '.join(wrong)}"


def _resolved(number: int, handover: Handover, parsed: ParsedDocument) -> tuple[tuple[str, object], ...]:
    return (
        ("name", f"handover_{number}"),
        ("tool", handover.tool),
        ("categories", handover.categories),
        ("read_only", handover.read_only),
        ("mode", handover.mode),
        ("operations", handover.operations),
        ("argument", handover.argument),
        ("placeholders", handover.placeholders),
        ("text", parsed.fences[handover.fence].text),
    )


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)
