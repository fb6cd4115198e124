"""A comparison put into words: headings, points and diffs, which the text and Markdown forms print alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from cli.messages import say
from pipeline.diagnostics.bind import Diagnostic
from pipeline.diagnostics.lang import Lang
from pipeline.review.compare import Comparison, FenceChange, HandoverChange, PhaseChange, ToolChange
from pipeline.review.version import Handed, VersionPhase

Mark: TypeAlias = Literal["plain", "added", "removed", "alert"]


@dataclass(frozen=True, slots=True)
class Heading:
    text: str


@dataclass(frozen=True, slots=True)
class Point:
    """`alert`: a right that must not be overlooked."""

    text: str
    mark: Mark = "plain"


@dataclass(frozen=True, slots=True)
class Difference:
    """Lines of a unified diff."""

    lines: tuple[str, ...]


Entry: TypeAlias = Heading | Point | Difference


def outline(comparison: Comparison, lang: Lang) -> Iterator[Entry]:
    """Everything that changed, in the order of the new version; diagnostics last."""
    words = _Words(lang)
    if comparison.renamed:
        yield Point(words.say("renamed", old=comparison.old.name or "", new=comparison.new.name or ""))
    if comparison.shared_text or comparison.shared_fences:
        yield Heading(words.say("shared"))
        yield from words.text(comparison.shared_text)
        yield from words.fences(comparison.shared_fences)
    for change in comparison.phases:
        yield from words.phase(change)
    yield from words.diagnostics("appeared", comparison.appeared, "added")
    yield from words.diagnostics("gone", comparison.gone, "removed")


class _Words:
    def __init__(self, lang: Lang) -> None:
        self.lang: Lang = lang

    def say(self, key: str, **arguments: str | int) -> str:
        return say(f"diff.{key}", self.lang, **arguments)

    # ---------------------------------------------------------------------------------------------- phases

    def phase(self, change: PhaseChange) -> Iterator[Entry]:
        yield self.heading(change)
        if change.moved:
            yield Point(self.say("moved"))
        if change.calls is not None:
            old, new = change.calls
            yield Point(self.say("calls", old=old or self.say("none"), new=new or self.say("none")), "alert")
        for tool in change.tools:
            yield from self.tool(tool)
        for handover in change.handovers:
            yield from self.handover(handover)
        yield from self.text(change.text)
        yield from self.fences(change.fences)

    def heading(self, change: PhaseChange) -> Heading:
        old, new = change.old, change.new
        if old is None and new is not None:
            return Heading(self.say("phase-new", phase=self.name(new)))
        if new is None and old is not None:
            return Heading(self.say("phase-gone", phase=self.name(old)))
        if old is not None and new is not None and (change.renumbered or change.retitled):
            return Heading(self.say("phase-was", old=self.name(old), new=self.name(new)))
        return Heading(self.name(new) if new is not None else "")

    def name(self, phase: VersionPhase) -> str:
        if phase.number is None:
            return self.say("whole")
        key = "phase" if phase.title else "phase-untitled"
        return self.say(key, number=phase.number, title=phase.title)

    # ----------------------------------------------------------------------------------------------- tools

    def tool(self, change: ToolChange) -> Iterator[Entry]:
        if change.begins_writing:
            yield Point(self.say("begins-writing", tool=change.tool), "alert")
        if change.old is None and change.new is not None:
            yield Point(self.say("tool-granted", items="、".join(change.new.written)), "added")
        elif change.new is None and change.old is not None:
            yield Point(self.say("tool-withdrawn", items="、".join(change.old.written)), "removed")
        elif change.old is not None and change.new is not None:
            old, new = "、".join(change.old.written), "、".join(change.new.written)
            yield Point(self.say("tool-changed", old=old, new=new))
        if change.new is not None and change.new.operations is None:
            yield Point(self.say("all-operations", tool=change.tool))
        yield from self.operations("operations-granted", change.granted, "added")
        if change.new is not None:
            yield from self.operations("operations-withdrawn", change.withdrawn, "removed")

    def operations(self, key: str, operations: Sequence[tuple[str, str | None]], mark: Mark) -> Iterator[Entry]:
        for effect in ("write", "read", None):
            names = [name for name, has in operations if has == effect]
            if names:
                kind = self.say(f"effect-{effect or 'standard'}")
                yield Point(self.say(key, kind=kind, names=", ".join(names)), mark)

    def handover(self, change: HandoverChange) -> Iterator[Entry]:
        handover = change.handover
        granted = change.change == "granted"
        if granted and handover.writes:
            yield Point(self.say("handover-writes", tool=handover.tool), "alert")
        key = f"handover-{change.change}"
        yield Point(self.say(key, handover=self.handed(handover)), "added" if granted else "removed")

    def handed(self, handover: Handed) -> str:
        target = (
            f"{handover.tool}.{handover.operations[0]}" if handover.operations and handover.argument else handover.tool
        )
        how = "TypeScript" if handover.argument is None else handover.argument
        parts = [f"{target} ({how})"]
        if handover.fixed_arguments not in ("", "{}"):
            parts.append(handover.fixed_arguments)
        if handover.placeholders:
            parts.append(self.say("placeholders", marks="、".join(handover.placeholders)))
        return ", ".join(parts)

    # ------------------------------------------------------------------------------------ text, diagnostics

    def text(self, lines: tuple[str, ...]) -> Iterator[Entry]:
        if lines:
            yield Point(self.say("text"))
            yield Difference(lines)

    def fences(self, changes: Sequence[FenceChange]) -> Iterator[Entry]:
        for change in changes:
            language = (change.new or change.old or (None, ""))[0] or self.say("no-language")
            if change.old is None:
                yield Point(self.say("fence-new", language=language), "added")
            elif change.new is None:
                yield Point(self.say("fence-gone", language=language), "removed")
            else:
                yield Point(self.say("fence-changed", language=language))
            if change.lines:
                yield Difference(change.lines)

    def diagnostics(self, key: str, found: Sequence[Diagnostic], mark: Mark) -> Iterator[Entry]:
        if found:
            yield Heading(self.say(key))
        for diagnostic in found:
            where = "" if diagnostic.line is None else f"{diagnostic.line}:{diagnostic.column} "
            yield Point(f"{where}{diagnostic.severity}[{diagnostic.code}] {diagnostic.message}", mark)
