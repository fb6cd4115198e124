"""Why a stage runs, in R3's words. There is always one; where several are true, the first in this order is given:

1. `forced` - nothing may be used again (`reuse: never`);
2. `artifact-missing`, `artifact-damaged` - a run with the same inputs is recorded, but what it made is gone;
3. `new` - the document, or a phase like this one, was never compiled here;
4. `stage-version`, `model`, `options` - the compiler, the model or an option is another one;
5. `declaration`, then `tool-removed`, `tool-added`, `tool-effect`, `tool-schema`, then `callee` - what a phase may use;
6. `fence`, `shared-fence` - a fence of a phase, or one outside all phases;
7. `document` - any other text.

All comparisons are with the document's previous compile (`record.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.view import CatalogView
from pipeline.artifacts import Grant, ParsedDocument, Pin, Section, Segment, Unit
from pipeline.incremental.reads import PROJECT_KINDS, Change
from pipeline.incremental.report import Reason
from pipeline.incremental.shelf import LostReason

PRIORITY: tuple[Reason, ...] = (
    "forced",
    "artifact-missing",
    "artifact-damaged",
    "new",
    "stage-version",
    "model",
    "options",
    "declaration",
    "tool-removed",
    "tool-added",
    "tool-effect",
    "tool-schema",
    "callee",
    "fence",
    "shared-fence",
    "document",
    "same",
)


def first(reasons: Iterable[Reason]) -> Reason | None:
    """The one to give of several; None of none."""
    return min(reasons, key=PRIORITY.index, default=None)


def without_record(fresh: bool, lost: LostReason | None) -> Reason:
    """Where there is nothing to compare with. `fresh`: nothing may be used; `lost`: what became of a recorded run's."""
    return "forced" if fresh else lost or "new"


# ------------------------------------------------------------------------------------------- the document


def declared(section: Section) -> tuple[tuple[str, ...], ...]:
    """What the section's declarations say, wherever they stand in it."""
    return (
        tuple(declaration.written for declaration in section.tools),
        tuple(declaration.written for declaration in section.handovers),
        tuple(declaration.written for declaration in section.calls),
    )


def parsed_change(before: ParsedDocument, now: ParsedDocument) -> Reason:
    """Why two parsed documents differ. Moving a phase changes neither its declarations nor its fences."""
    if _bag(map(declared, before.phases)) != _bag(map(declared, now.phases)):
        return "declaration"
    if declared(before.outside) != declared(now.outside):
        return "declaration"
    if _bag(_fences(before, section) for section in before.phases) != _bag(_fences(now, s) for s in now.phases):
        return "fence"
    if _fences(before, before.outside) != _fences(now, now.outside):
        return "shared-fence"
    return "document"


def _bag(entries: Iterable[tuple[object, ...]]) -> list[str]:
    """The same for any order; sections without an entry do not count."""
    return sorted(repr(entry) for entry in entries if any(entry))


def _fences(document: ParsedDocument, section: Section) -> tuple[tuple[str | None, str], ...]:
    return tuple((document.fences[fence].language, document.fences[fence].text) for fence in section.fences)


# -------------------------------------------------------------------------------------------- the catalog


def read_change(change: Change, pins: Sequence[Pin], catalog: CatalogView) -> Reason:
    """Why one recorded answer is another one now. `pins`: the operations that the previous compile used."""
    kind = change.question[0]
    if kind in PROJECT_KINDS:
        return "callee"
    if kind == "lock":
        return "options"
    if kind == "tool":
        if change.before is None:
            return "tool-added"
        if change.now is None:
            return "tool-removed"
        return tool_change(pins, catalog, str(change.question[1]))
    if kind in ("word", "mention"):
        return "tool-added" if change.now else "tool-removed"
    before, now = _names(change.before), _names(change.now)
    return "tool-removed" if before - now and not now - before else "tool-added"


def _names(answer: object) -> set[str]:
    return {str(name) for name in answer} if isinstance(answer, list | tuple) else set()


def tool_change(pins: Sequence[Pin], catalog: CatalogView, name: str) -> Reason:
    """Whether an operation that was used has another effect now, or the tool is another one otherwise."""
    tool = catalog.tool(name)
    if tool is None:
        return "tool-removed"
    effects = {operation.name: operation.effect for operation in tool.operations or ()}
    for pin in pins:
        if pin.tool == tool.name and effects.get(pin.operation, pin.effect) != pin.effect:
            return "tool-effect"
    return "tool-schema"


# ----------------------------------------------------------------------------------------------- a phase


def unit_change(before: Unit, now: Unit, declarations_differ: bool, catalog: CatalogView) -> Reason:
    """Why one phase's units differ. `declarations_differ`: whether its declarations and calls are other ones."""
    reasons: set[Reason] = set()
    if (before.tools, before.handovers, before.pins) != (now.tools, now.handovers, now.pins):
        reasons.add("declaration" if declarations_differ else _attached_change(before, now, catalog))
    if before.own_fences != now.own_fences:
        reasons.add("fence")
    if before.shared_fences != now.shared_fences:
        reasons.add("shared-fence")
    return first(reasons) or "document"


def _attached_change(before: Unit, now: Unit, catalog: CatalogView) -> Reason:
    """What became of the tools of a phase whose declarations are as they were: the catalog is another one."""
    had, has = _tools(before), _tools(now)
    if had - has:
        return "tool-removed"
    if has - had:
        return "tool-added"
    reasons = {tool_change(before.pins, catalog, name) for name in has}
    return "tool-effect" if "tool-effect" in reasons else "tool-schema"


def _tools(unit: Unit) -> set[str]:
    return {grant.tool for grant in unit.tools} | {handover.tool for handover in unit.handovers}


class Ancestors:
    """The units of the previous compile that this one does not use as they were: what a changed phase was made from."""

    def __init__(self, units: Sequence[Unit | None]) -> None:
        """`units`: by place in the previous document, None where there is none to be compared with."""
        self._units = units
        self._by_title: dict[str, int] = {}
        self._by_body: dict[tuple[Segment, ...], int] = {}
        self._by_tools: dict[tuple[Grant, ...], int] = {}
        for place, unit in enumerate(units):
            if unit is not None:
                self._by_title.setdefault(unit.title, place)
                self._by_body.setdefault(unit.body, place)
                self._by_tools.setdefault(unit.tools, place)

    def of(self, unit: Unit, place: int) -> int | None:
        """The place of the unit that has this one's title, else its text, else its tools; at best at the same place.

        None where there is none: the phase is new.
        """
        here = self._units[place] if place < len(self._units) else None
        if here is not None and here.title == unit.title:
            return place
        if unit.title in self._by_title:
            return self._by_title[unit.title]
        if unit.body and unit.body in self._by_body:
            return self._by_body[unit.body]
        if here is not None and here.tools == unit.tools:
            return place
        return self._by_tools.get(unit.tools) if unit.tools else None
