"""What follows from a verdict (I3, I4): warnings about kept code, and phases that must be generated again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pipeline.artifacts import Fault, ParsedDocument, Verdict
from pipeline.diagnostics.findings import Argument, Finding
from pipeline.incremental.carry import Reuse
from pipeline.incremental.phases import Phase
from pipeline.places import At


class Judgement(NamedTuple):
    """`stale`: fences that kept code does not carry; `refused`: phases with other faults, which their `faults` hold."""

    stale: tuple[tuple[Phase, Fault], ...]
    refused: tuple[Phase, ...]


def judge(verdict: Verdict, phases: Sequence[Phase], reuse: Reuse) -> Judgement:
    """Sets the `faults` of the refused phases. A fault of the module as a whole is blamed on what was made just now."""
    if not verdict.faults:
        return Judgement((), ())
    by_place = {phase.place: phase for phase in phases}
    stale: list[tuple[Phase, Fault]] = []
    faults: dict[int, list[Fault]] = {}
    for fault in verdict.faults:
        if fault.phase is not None and fault.phase in by_place:
            blamed = [by_place[fault.phase]]
        else:
            blamed = [phase for phase in phases if phase.made_now] or list(phases)
        for phase in blamed:
            if fault.kind == "fence" and not phase.made_now and reuse == "compatible":
                stale.append((phase, fault))
            else:
                faults.setdefault(phase.place, []).append(fault)
    for place, found in faults.items():
        by_place[place].faults = tuple(found)
    kept = tuple((phase, fault) for phase, fault in stale if phase.place not in faults)
    return Judgement(kept, tuple(by_place[place] for place in sorted(faults)))


def findings_of(judgement: Judgement, phases: Sequence[Phase], parsed: ParsedDocument) -> list[Finding]:
    """artifact-stale, fence-stale, fence-lost and tools-mismatch, each once a phase and fence."""
    found = [_at_phase("artifact-stale", phase, parsed, reasons=phase.carried) for phase in phases if phase.carried]
    for phase, fault in judgement.stale:
        found.append(_at_fence("fence-stale", phase, fault, parsed, reasons=phase.carried or ("same",)))
    for phase in judgement.refused:
        for fault in phase.faults:
            arguments: dict[str, Argument] = {"detail": fault.detail, "attempts": phase.attempts}
            if fault.kind == "fence":
                found.append(_at_fence("fence-lost", phase, fault, parsed, **arguments))
            else:
                found.append(_at_phase("tools-mismatch", phase, parsed, **arguments))
    by_place = {(finding.name, finding.at, finding.phase): finding for finding in reversed(found)}
    return list(reversed(by_place.values()))


def _at_phase(name: str, phase: Phase, parsed: ParsedDocument, **arguments: Argument) -> Finding:
    return Finding(name, At(parsed.phases[phase.place].anchor), phase.number, tuple(arguments.items()))


def _at_fence(name: str, phase: Phase, fault: Fault, parsed: ParsedDocument, **arguments: Argument) -> Finding:
    if fault.fence is None:
        return _at_phase(name, phase, parsed, **arguments)
    return Finding(name, At(parsed.fences[fault.fence].anchor), phase.number, tuple(arguments.items()))
