"""The result of a compile, in the one shape that the command line, HTTP and MCP share (O2)."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Sequence
from typing import TYPE_CHECKING, TypedDict

from pipeline.artifacts import Grant, Handover, Module, ParsedDocument, ResolvedPhase
from pipeline.places import Positions

if TYPE_CHECKING:
    from pipeline.compilation import Compilation
    from pipeline.diagnostics.json import DiagnosticDict


class DocumentDict(TypedDict):
    name: str
    path: str
    sha256: str
    kind: str | None
    output: str | None


class ToolDict(TypedDict):
    tool: str
    kind: str
    categories: list[str]
    read_only: bool
    operations: list[str] | None
    options: dict[str, str]


class FenceDict(TypedDict):
    line: int
    language: str | None
    text: str


class HandoverDict(TypedDict):
    line: int
    tool: str
    mode: str
    operations: list[str] | None
    argument: str | None
    fixed_arguments: dict[str, object]
    placeholders: list[str]


class PhaseDict(TypedDict):
    number: int | None
    title: str
    line: int
    kind: str
    calls: str | None
    tools: list[ToolDict]
    fences: list[FenceDict]
    handovers: list[HandoverDict]
    instructions: str | None


class StageDict(TypedDict):
    stage: str
    phase: int | None
    outcome: str
    reason: str


class ResultDict(TypedDict):
    """O2's keys in O2's order, ready for `json.dumps`."""

    status: str
    document: DocumentDict
    diagnostics: list[DiagnosticDict]
    phases: list[PhaseDict]
    stages: list[StageDict]


def result(
    compilation: Compilation,
    diagnostics: Sequence[DiagnosticDict],
    output: str | None,
    phases: Sequence[PhaseDict] | None = None,
) -> ResultDict:
    """`diagnostics`: bound and sorted; `output`: the folder that was written, None if none was; `phases`: None for
    those of `phase_dicts`. Raises StoreError."""
    phases = list(phase_dicts(compilation)) if phases is None else list(phases)
    return {
        "status": compilation.status,
        "document": {
            "name": compilation.name,
            "path": compilation.path,
            "sha256": compilation.sha256,
            "kind": compilation.kind,
            "output": output,
        },
        "diagnostics": list(diagnostics),
        "phases": phases,
        "stages": [
            {"stage": report.stage, "phase": report.phase, "outcome": report.outcome, "reason": report.reason}
            for report in compilation.stages
        ],
    }


def phase_dicts(compilation: Compilation) -> Iterator[PhaseDict]:
    """The result's `phases`, each made when it is asked for: a hundred bytes of a document may ask for ten thousand.

    Where all instructions together would be larger than a module may be, no phase has any; so each lists only the
    fences that stand in it, not those outside all phases, which it would share with ten thousand others.
    Raises StoreError.
    """
    parsed, resolved, module = compilation.parsed, compilation.resolved, compilation.module
    if parsed is None or resolved is None:
        return iter(())
    positions = compilation.positions
    if module is not None:
        pairs = zip(resolved.phases, instructions_of(module), strict=True)
        return (_phase(phase, text, parsed, positions) for phase, text in pairs)
    from pipeline.stages.generate import MAX_INSTRUCTIONS, expanded_size  # noqa: PLC0415 - for what has no module

    shared = frozenset(parsed.outside.fences if expanded_size(parsed, resolved) > MAX_INSTRUCTIONS else ())
    return (_phase(phase, None, parsed, positions, shared) for phase in resolved.phases)


def instructions_of(module: Module) -> list[str | None]:
    """The instructions of a proven module's phases, as Python evaluates them; None for a calling phase."""
    from pipeline.verifier.reading import DeclaredPhase, read_module  # noqa: PLC0415 - `aop check` reads no module

    declared = read_module(module.source, lambda: len(module.source))
    return [phase.instructions if isinstance(phase, DeclaredPhase) else None for phase in declared.phases]


def _phase(
    phase: ResolvedPhase,
    instructions: str | None,
    parsed: ParsedDocument,
    positions: Positions,
    without: Container[int] = (),
) -> PhaseDict:
    fences = [parsed.fences[index] for index in phase.fences if index not in without]
    return {
        "number": phase.number,
        "title": phase.title,
        "line": phase_line(phase, positions),
        "kind": phase.kind,
        "calls": phase.calls,
        "tools": [tool_dict(grant) for grant in phase.tools],
        "fences": [
            {"line": positions[fence.anchor].line, "language": fence.language, "text": fence.text} for fence in fences
        ],
        "handovers": [handover_dict(handover, positions) for handover in phase.handovers],
        "instructions": instructions,
    }


def phase_line(phase: ResolvedPhase, positions: Positions) -> int:
    """1-based line of the phase's heading; a document without phases begins at 1."""
    return 1 if phase.number is None else positions[phase.anchor].line


def tool_dict(grant: Grant) -> ToolDict:
    """An entry of a phase's `tools`, as it was resolved."""
    return {
        "tool": grant.tool,
        "kind": grant.kind,
        "categories": list(grant.categories),
        "read_only": grant.read_only,
        "operations": None if grant.operations is None else list(grant.operations),
        "options": dict(grant.options),
    }


def handover_dict(handover: Handover, positions: Positions) -> HandoverDict:
    """An entry of a phase's `handovers`."""
    return {
        "line": positions[handover.anchor].line,
        "tool": handover.tool,
        "mode": handover.mode,
        "operations": None if handover.operations is None else list(handover.operations),
        "argument": handover.argument,
        "fixed_arguments": json.loads(handover.fixed_arguments),
        "placeholders": list(handover.placeholders),
    }
