"""Phases and chapters: which blocks belong to which section (F4, F5, T4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pipeline.document.blocks import Block
from pipeline.document.declarations import LeafReading
from pipeline.document.headings import PhaseHeading, clean_title, phase_heading
from pipeline.document.text import LeafText

TOOLS_LIST = "利用可能なツール"


class PhaseRange(NamedTuple):
    """A phase: the index of its heading's block, and that of the block behind its last one."""

    heading: PhaseHeading
    start: int
    end: int


class Outline:
    """`name`: the first top-level level-1 heading that is no phase heading, None without one.

    `listed`: the indices of the item blocks of lists under 利用可能なツール, none inside a phase. `readings`: of the
    headings that were read for their titles.
    """

    def __init__(self) -> None:
        self.name: str | None = None
        self.phases: list[PhaseRange] = []
        self.listed: list[int] = []
        self.readings: dict[int, LeafReading] = {}


def read_outline(
    blocks: Sequence[Block], headings: Iterable[int], leaf: Callable[[int], LeafText], labels: frozenset[str]
) -> Outline:
    """`headings`: the indices of those outside all containers, in order; `leaf`: the text of a block, by its index."""
    outline = Outline()
    level = 0
    opened: tuple[PhaseHeading, int] | None = None
    listing: int | None = None
    for index in headings:
        block = blocks[index]
        if listing is not None:
            outline.listed += _items(blocks, listing, index)
            listing = None
        title, reading = clean_title(leaf(index), labels)
        if reading is not None:
            outline.readings[index] = reading
        own = block.level
        phase = phase_heading(title) if not level or own <= level else None
        if opened is not None and (phase is not None or own <= level):
            outline.phases.append(PhaseRange(*opened, index))
            opened = None
        if phase is not None:
            level = level or own
            opened = phase, index
            continue
        if own == 1 and outline.name is None:
            outline.name = title
        if opened is None and title == TOOLS_LIST:
            listing = index
    end = len(blocks)
    if listing is not None:
        outline.listed += _items(blocks, listing, end)
    if opened is not None:
        outline.phases.append(PhaseRange(*opened, end))
    return outline


def _items(blocks: Sequence[Block], start: int, end: int) -> list[int]:
    """The items of lists outside of all other containers."""
    return [
        index
        for index in range(start, end)
        if blocks[index].kind == "item" and blocks[index].depth == 1 and blocks[index].nesting == 1
    ]
