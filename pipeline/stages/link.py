"""Link: the phases' code, the document's numbers and its fences to one module (I1, O1, R2).

Fences and numbers are placed here, not by a generator: so a changed fence or a moved phase regenerates nothing (I4).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.artifacts import FenceSlot, Module, ParsedDocument, PhaseCode, ResolvedDocument, ResolvedPhase, Section
from pipeline.generators.source import CONSTRUCTORS, INDENT
from pipeline.literals import lines, literal
from pipeline.stages import versions

VERSION = versions.LINK
"""Raised whenever the same inputs may link to another module."""

LAST_LINE = 'if __name__ == "__main__": PROCEDURE.main()'
"""Runs the module by itself; the one statement behind the declaration."""

_INDENT = " " * INDENT

_LINE_STARTS = ('"', "\\n")
"""What stands before the beginning of a line in a literal: its quote, or a line end as it is written there."""


def link(parsed: ParsedDocument, resolved: ResolvedDocument, codes: Sequence[PhaseCode | None]) -> Module:
    """The module of a document. `codes`: by phase, None where it calls another AOP.

    A slot for a fence that the document has not got becomes an empty string: what should be there the verifier misses.
    """
    writer = _Writer(parsed)
    writer.write(
        f'""{literal(f"{resolved.name} — compiled by aop. Do not edit.")}""\n\n'
        f"from aop_runtime import {', '.join(_imported(resolved))}\n\n"
        f"PROCEDURE = Procedure(\n    name={literal(resolved.name)},\n    phases=(\n"
    )
    for section, phase, code in zip(parsed.phases, resolved.phases, codes, strict=True):
        writer.phase(section, phase, code)
    writer.write(f"    ),\n)\n\n{LAST_LINE}\n")
    return Module("".join(writer.pieces), tuple(writer.source_map))


def _imported(resolved: ResolvedDocument) -> list[str]:
    names = {"Phase", "Procedure"}
    for phase in resolved.phases:
        names.update([CONSTRUCTORS[grant.kind] for grant in phase.tools])
        if phase.handovers:
            names.add("Handover")
    return sorted(names)


class _Writer:
    """The module as it grows, and on which of its lines phases and fences stand."""

    def __init__(self, parsed: ParsedDocument) -> None:
        self.pieces: list[str] = []
        self.source_map: list[tuple[int, int, int]] = []
        self._line = 1
        self._fences = parsed.fences
        self._shared = parsed.outside.fences

    def write(self, text: str) -> None:
        self.pieces.append(text)
        self._line += text.count("\n")

    def phase(self, section: Section, phase: ResolvedPhase, code: PhaseCode | None) -> None:
        self.write(_INDENT)
        first, entry = self._line, len(self.source_map)
        if code is None:
            inner = _INDENT + "    "
            fields = (f"number={phase.number}", f"title={literal(phase.title)}", f"calls={literal(phase.calls or '')}")
            self.write("Phase(\n" + "".join([f"{inner}{field},\n" for field in fields]) + f"{_INDENT})")
        else:
            shortest = 0
            for piece in code.source:
                if isinstance(piece, str):
                    self.write(piece)
                elif isinstance(piece, FenceSlot):
                    shortest = shortest or _shortest_mark(code)
                    self._fence(piece, section, shortest)
                else:
                    self.write(str(phase.number))
        self.source_map.insert(entry, (first, self._line, phase.anchor))
        self.write(",\n")

    def _fence(self, slot: FenceSlot, section: Section, shortest: int) -> None:
        fences = section.fences if slot.scope == "own" else self._shared
        if not 0 <= slot.fence < len(fences):
            self.write('""')
            return
        index = fences[slot.fence]
        text = self._fences[index].text if slot.form == "text" else self._marked(index, shortest)
        first = self._line
        self.write(lines(text, " " * slot.indent))
        self.source_map.append((first, self._line, self._fences[index].anchor))

    def _marked(self, index: int, shortest: int) -> str:
        """A fence between marks that nothing inside it can be taken for."""
        fence = self._fences[index]
        language = fence.language or ""
        sign = "~" if "`" in language else "`"
        mark = sign * max(shortest, _longest_run(fence.text, sign) + 1)
        gap = " " if language.startswith(sign) else ""
        end = "" if fence.text.endswith("\n") else "\n"
        return f"{mark}{gap}{language}\n{fence.text}{end}{mark}\n"


def _longest_run(text: str, sign: str) -> int:
    return max(map(len, re.findall(f"{sign}{{3,}}", text))) if sign * 3 in text else 2


def _shortest_mark(code: PhaseCode) -> int:
    """How long a fence mark must be, lest prose that begins a line like one (from an HTML block) pairs up with it."""
    runs = [_longest_at_line_start(piece, sign) for piece in code.source if isinstance(piece, str) for sign in "`~"]
    return max([2, *runs]) + 1


def _longest_at_line_start(piece: str, sign: str) -> int:
    """Of the runs of a sign that begin a line of a literal; 0 without one that is as long as a fence's mark."""
    longest = 0
    at = piece.find(sign * 3) if sign in piece else -1  # most hold no such sign, and that is seen at once
    while at >= 0:
        end = at + 3
        while piece.startswith(sign, end):
            end += 1
        if piece.endswith(_LINE_STARTS, 0, at):
            longest = max(longest, end - at)
        at = piece.find(sign * 3, end)
    return longest
