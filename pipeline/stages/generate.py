"""Generate: one phase's unit to its code.

What a generator reads is cut out here, so that nothing else regenerates a phase (R2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pipeline.artifacts import (
    Grant,
    Handover,
    ParsedDocument,
    Pin,
    ResolvedDocument,
    ResolvedPhase,
    Section,
    Segment,
    Unit,
    UnitHandover,
)

MAX_INSTRUCTIONS = 16 << 20
"""The largest module that is made of one document, in characters as `expanded_size` counts them. Everything outside the
phases is in every agent's instructions (I1), so that a document of the allowed size may ask for gigabytes."""

_LINE = 28
"""What a line of text costs in the module beside its own characters: indentation, quotes, line ends."""

_PHASE = 1000
"""What a phase costs beside its texts."""


def units_of(parsed: ParsedDocument, resolved: ResolvedDocument) -> tuple[Unit | None, ...]:
    """The units of the document's phases in order; None for a phase that calls another AOP and has no agent (I2)."""
    shared_places = _places(parsed.outside)
    shared = _prose(parsed.outside.body, shared_places)
    shared_fences = _languages(parsed, parsed.outside)
    pins = {pin[:2]: pin for pin in resolved.pins}
    units: list[Unit | None] = []
    for section, phase in zip(parsed.phases, resolved.phases, strict=True):
        if phase.kind == "call":
            units.append(None)
            continue
        places = _places(section)
        units.append(
            Unit(
                phase.title,
                shared,
                shared_fences,
                _prose(section.body, places),
                _languages(parsed, section),
                phase.tools,
                _handovers(section, phase, places),
                _used(phase, pins),
            )
        )
    return tuple(units)


def oversize(parsed: ParsedDocument, resolved: ResolvedDocument) -> int:
    """`expanded_size` where it is above `MAX_INSTRUCTIONS`, else 0.

    A compile refuses a document for which it is above that before it generates anything. Most are so small that it
    shows without counting lines and operations: if each character were a line, if each agent had all of the text, and
    again for each hand-over, and if each operation had the longest description.
    """
    pieces = [fence.text for fence in parsed.fences]
    for section in (parsed.outside, *parsed.phases):
        for segment in section.body:
            if isinstance(segment, str):
                pieces.append(segment)
    text = (_LINE + 1) * len("".join(pieces)) + _LINE * len(pieces)
    times = operations = 0
    for phase in resolved.phases:
        times += 1 + len(phase.handovers)
        for entry in _attached(phase):
            operations += len(entry.operations or ())
    longest = max([2 * len(pin.operation) + len(pin.description) for pin in resolved.pins], default=0) + _LINE
    if times * (text + _PHASE) + operations * longest <= MAX_INSTRUCTIONS:
        return 0
    size = expanded_size(parsed, resolved)
    return size if size > MAX_INSTRUCTIONS else 0


def expanded_size(parsed: ParsedDocument, resolved: ResolvedDocument) -> int:
    """About how many characters the texts of all instructions and hand-overs have together, in linear time."""
    pins = {
        (tool, operation): 2 * len(operation) + len(description) + _LINE
        for tool, operation, _, description, _ in resolved.pins
    }
    widths: dict[tuple[str, tuple[str, ...] | None], int] = {}
    outside = _text_size(parsed, parsed.outside) + _PHASE
    total = 0
    for section, phase in zip(parsed.phases, resolved.phases, strict=True):
        if phase.kind == "call":
            continue
        total += outside + _text_size(parsed, section)
        for handover in phase.handovers:
            total += _lines_size(parsed.fences[handover.fence].text)
        for entry in _attached(phase):
            key = entry.tool, entry.operations
            width = widths.get(key)
            if width is None:
                tool, operations = key
                width = widths[key] = sum([pins.get((tool, operation), _LINE) for operation in operations or ()])
            total += width
    return total


def _places(section: Section) -> dict[int, int]:
    """From a fence's index in the document to the one among the section's fences."""
    return {fence: place for place, fence in enumerate(section.fences)} if section.fences else {}


def _languages(parsed: ParsedDocument, section: Section) -> tuple[str | None, ...]:
    return tuple([parsed.fences[fence].language for fence in section.fences]) if section.fences else ()


def _prose(body: tuple[Segment, ...], places: Mapping[int, int]) -> tuple[Segment, ...]:
    if not places:  # no fence stands in it
        return body
    return tuple([segment if isinstance(segment, str) else places[segment] for segment in body])


def _handovers(section: Section, phase: ResolvedPhase, places: Mapping[int, int]) -> tuple[UnitHandover, ...]:
    if not phase.handovers:
        return ()
    written = {declaration.anchor: declaration.written for declaration in section.handovers}
    return tuple(
        UnitHandover(
            f"handover_{number}",
            written.get(handover.anchor, ""),
            handover.tool,
            handover.categories,
            handover.read_only,
            handover.mode,
            handover.operations,
            handover.argument,
            handover.fixed_arguments,
            handover.placeholders,
            places[handover.fence],
        )
        for number, handover in enumerate(phase.handovers, 1)
    )


def _attached(phase: ResolvedPhase) -> Sequence[Grant | Handover]:
    return [*phase.tools, *phase.handovers] if phase.handovers else phase.tools


def _used(phase: ResolvedPhase, pins: Mapping[tuple[str, str], Pin]) -> tuple[Pin, ...]:
    """The pins of what the phase may call, sorted by tool and operation, each once."""
    used = {(entry.tool, operation) for entry in _attached(phase) for operation in entry.operations or ()}
    return tuple([pins[name] for name in sorted(used) if name in pins])


def _text_size(parsed: ParsedDocument, section: Section) -> int:
    size = 0
    for segment in section.body:
        if isinstance(segment, str):
            size += len(segment) + _LINE * (segment.count("\n") + 1)
    for fence in section.fences:
        size += _lines_size(parsed.fences[fence].text)
    return size


def _lines_size(text: str) -> int:
    return len(text) + _LINE * (text.count("\n") + 1)
