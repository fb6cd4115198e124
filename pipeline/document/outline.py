"""Phases and chapters: which blocks belong to which section (F4, F5, T4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.document.blocks import Block
from pipeline.document.declarations import LeafReading
from pipeline.document.headings import PhaseHeading, clean_title, phase_heading
from pipeline.document.text import LeafText

TOOLS_LIST = "利用可能なツール"


@dataclass(frozen=True, slots=True)
class PhaseRange:
    """A phase: the index of its heading's block, and that of the block behind its last one."""

    heading: PhaseHeading
    start: int
    end: int


@dataclass(slots=True)
class Outline:
    """`name`: the first top-level level-1 heading that is no phase heading, None without one.

    `listed`: the indices of the item blocks of lists under 利用可能なツール, none inside a phase. `readings`: of the
    headings that were read for their titles.
    """

    name: str | None = None
    phases: list[PhaseRange] = field(default_factory=list)
    listed: list[int] = field(default_factory=list)
    readings: dict[int, LeafReading] = field(default_factory=dict)


def read_outline(blocks: Sequence[Block], labels: frozenset[str]) -> Outline:
    outline = Outline()
    level = 0
    opened: tuple[PhaseHeading, int] | None = None
    listing = False

    def close(end: int) -> None:
        nonlocal opened
        if opened is not None:
            outline.phases.append(PhaseRange(*opened, end))
            opened = None

    for index, block in enumerate(blocks):
        if block.depth == 1 and block.kind == "item" and block.nesting == 1 and listing:
            outline.listed.append(index)
        if block.depth or block.kind != "heading":
            continue
        title, reading = clean_title(LeafText(block.lines), labels) if block.lines else ("", None)
        if reading is not None:
            outline.readings[index] = reading
        phase = phase_heading(title) if not level or block.level <= level else None
        if phase is not None:
            level = level or block.level
            close(index)
            opened = (phase, index)
        else:
            if level and block.level <= level:
                close(index)
            if block.level == 1 and outline.name is None:
                outline.name = title
        listing = opened is None and title == TOOLS_LIST
    close(len(blocks))
    return outline
