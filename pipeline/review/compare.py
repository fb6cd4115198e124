"""What changed between two versions of a document."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pipeline.diagnostics.bind import Diagnostic
from pipeline.diagnostics.findings import Finding
from pipeline.review.aligning import runs, unified
from pipeline.review.match import match
from pipeline.review.version import Access, Handed, Version, VersionPhase, fences_of, prose_lines

Fence: TypeAlias = tuple[str | None, str]


@dataclass(frozen=True, slots=True)
class FenceChange:
    """`old` or `new` is None for a fence that came or went; `lines`: unified diff of the texts."""

    old: Fence | None
    new: Fence | None
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A tool of which a phase may do something else than before. `granted` and `withdrawn`: operations with their
    effect, None for a standard tool's. `begins_writing`: it may write now, and could not before."""

    old: Access | None
    new: Access | None
    granted: tuple[tuple[str, str | None], ...]
    withdrawn: tuple[tuple[str, str | None], ...]
    begins_writing: bool

    @property
    def tool(self) -> str:
        access = self.new or self.old
        return access.tool if access else ""


@dataclass(frozen=True, slots=True)
class HandoverChange:
    change: Literal["granted", "withdrawn"]
    handover: Handed


@dataclass(frozen=True, slots=True)
class PhaseChange:
    """`old` None: a new phase; `new` None: one that is gone. `moved`: other phases stand before it now than before."""

    old: VersionPhase | None
    new: VersionPhase | None
    moved: bool
    text: tuple[str, ...]
    fences: tuple[FenceChange, ...]
    tools: tuple[ToolChange, ...]
    handovers: tuple[HandoverChange, ...]
    calls: tuple[str | None, str | None] | None

    @property
    def renumbered(self) -> bool:
        return self.old is not None and self.new is not None and self.old.number != self.new.number

    @property
    def retitled(self) -> bool:
        return self.old is not None and self.new is not None and self.old.title != self.new.title

    @property
    def empty(self) -> bool:
        """Nothing but perhaps its number is another."""
        came_or_went = self.old is None or self.new is None
        parts = (self.moved, self.retitled, self.text, self.fences, self.tools, self.handovers, self.calls)
        return not came_or_went and not any(parts)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`shared`: text and fences outside all phases, which every agent reads. `phases`: those that changed, in the new
    order, then those that are gone."""

    old: Version
    new: Version
    shared_text: tuple[str, ...]
    shared_fences: tuple[FenceChange, ...]
    phases: tuple[PhaseChange, ...]
    appeared: tuple[Diagnostic, ...]
    gone: tuple[Diagnostic, ...]

    @property
    def renamed(self) -> bool:
        return self.old.name != self.new.name

    @property
    def empty(self) -> bool:
        return not any((self.renamed, self.shared_text, self.shared_fences, self.phases, self.appeared, self.gone))


def compare(old: Version, new: Version) -> Comparison:
    before, after = old.phases(), new.phases()
    pairs = match(before, after)
    unmoved = _in_order([pairs[index] for index in sorted(pairs)])
    changes = [
        _phase(before[pairs[index]], phase, pairs[index] not in unmoved)
        if index in pairs
        else _phase(None, phase, False)
        for index, phase in enumerate(after)
    ]
    kept = set(pairs.values())
    changes += [_phase(phase, None, False) for index, phase in enumerate(before) if index not in kept]
    shared_text = unified(_shared_text(old), _shared_text(new))
    shared_fences = _fences(_shared_fences(old), _shared_fences(new))
    shown = tuple(change for change in changes if not change.empty or change.renumbered)
    appeared, gone = _diagnostics(old, new)
    return Comparison(old, new, shared_text, shared_fences, shown, appeared, gone)


def _phase(old: VersionPhase | None, new: VersionPhase | None, moved: bool) -> PhaseChange:
    calls = (old.resolved.calls if old else None, new.resolved.calls if new else None)
    return PhaseChange(
        old,
        new,
        moved,
        unified(old.text() if old else [], new.text() if new else []),
        _fences(old.fences() if old else [], new.fences() if new else []),
        _tools(old.access() if old else {}, new.access() if new else {}),
        _handovers(old.handovers() if old else [], new.handovers() if new else []),
        calls if calls[0] != calls[1] else None,
    )


def _in_order(places: Sequence[int]) -> set[int]:
    """The largest part of `places`, all different, that is in ascending order: what did not move when the others did.
    By patience sorting."""
    ends: list[int] = []  # at n - 1: the smallest end of an ascending part of n places
    before: dict[int, int | None] = {}
    for place in places:
        at = bisect_left(ends, place)
        before[place] = ends[at - 1] if at else None
        ends[at : at + 1] = [place]
    found: set[int] = set()
    last = ends[-1] if ends else None
    while last is not None:
        found.add(last)
        last = before[last]
    return found


def _shared_text(version: Version) -> list[str]:
    return [] if version.parsed is None else prose_lines(version.parsed, version.parsed.outside)


def _shared_fences(version: Version) -> list[Fence]:
    return [] if version.parsed is None else fences_of(version.parsed, version.parsed.outside)


def _fences(old: Sequence[Fence], new: Sequence[Fence]) -> tuple[FenceChange, ...]:
    changes: list[FenceChange] = []
    for kind, i1, i2, j1, j2 in runs(old, new):
        if kind == "equal":
            continue
        gone, came = old[i1:i2], new[j1:j2]
        for index in range(max(len(gone), len(came))):
            before = gone[index] if index < len(gone) else None
            after = came[index] if index < len(came) else None
            lines = unified(_fence_lines(before), _fence_lines(after))
            changes.append(FenceChange(before, after, lines))
    return tuple(changes)


def _fence_lines(fence: Fence | None) -> list[str]:
    return [] if fence is None else fence[1].removesuffix("\n").split("\n")


def _tools(old: dict[str, Access], new: dict[str, Access]) -> tuple[ToolChange, ...]:
    changes: list[ToolChange] = []
    for tool in dict.fromkeys((*new, *old)):
        before, after = old.get(tool), new.get(tool)
        if before == after:
            continue
        had, has = _operations(before), _operations(after)
        changes.append(
            ToolChange(
                before,
                after,
                tuple((name, effect) for name, effect in has.items() if had.get(name, "") != effect),
                tuple((name, effect) for name, effect in had.items() if name not in has),
                bool(after and after.writes and not (before and before.writes)),
            )
        )
    return tuple(changes)


def _operations(access: Access | None) -> dict[str, str | None]:
    if access is None:
        return {}
    effects: dict[str, str | None] = dict(access.effects)
    return {name: effects.get(name) for name in access.operations or ()}


def _handovers(old: Sequence[Handed], new: Sequence[Handed]) -> tuple[HandoverChange, ...]:
    granted = Counter(new) - Counter(old)
    withdrawn = Counter(old) - Counter(new)
    return (
        *(HandoverChange("granted", handover) for handover in granted.elements()),
        *(HandoverChange("withdrawn", handover) for handover in withdrawn.elements()),
    )


def _diagnostics(old: Version, new: Version) -> tuple[tuple[Diagnostic, ...], tuple[Diagnostic, ...]]:
    """Those that appeared and those that went, by what they are about: where they stand does not matter."""
    before, after = (Counter(_about(finding) for finding, _ in version.found) for version in (old, new))
    return _surplus(new, after - before), _surplus(old, before - after)


def _about(finding: Finding) -> tuple[Hashable, ...]:
    return finding.name, finding.variant, finding.arguments


def _surplus(version: Version, counts: Counter[tuple[Hashable, ...]]) -> tuple[Diagnostic, ...]:
    chosen: list[Diagnostic] = []
    for finding, diagnostic in version.found:
        if counts[_about(finding)] > 0:
            counts[_about(finding)] -= 1
            chosen.append(diagnostic)
    return tuple(chosen)
