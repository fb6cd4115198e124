"""From a source text to `ParsedDocument`: sections, fences, declarations, in one walk over the blocks in order."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from pipeline.artifacts import (
    CallDeclaration,
    Fence,
    HandoverDeclaration,
    Item,
    ParsedDocument,
    Section,
    ToolDeclaration,
)
from pipeline.diagnostics.findings import Argument, Finding
from pipeline.document.blocks import Block, read_blocks
from pipeline.document.declarations import Below, Found, LeafReading, declarations_in_code, may_declare, read_leaf
from pipeline.document.handover_form import read_marks
from pipeline.document.html import text_mask, without_comments
from pipeline.document.inline import scan_inline
from pipeline.document.items import as_written, one_line, place_items, read_extents
from pipeline.document.mentions import mentionable
from pipeline.document.outline import Outline, read_outline
from pipeline.document.prose import write_prose
from pipeline.document.source import Source
from pipeline.document.text import Anchors, LeafText
from pipeline.document.values import block_values, inline_values
from pipeline.garbage import uncollected
from pipeline.places import At, Positions, Span


class _Listed(NamedTuple):
    """T4's lists. `ends`: of each paragraph whose first line is an item, by block: the offset behind that line.

    `unreadable`: the blocks that make their item unreadable.
    """

    ends: dict[int, int]
    unreadable: set[int]


class _Part:
    """A section while it is being read. `extents`: from where to where its blocks stand; `fences`: all of it.

    By block: `diagnosed`, what in it has a diagnostic of its own; `handed`, the hand-overs in it.
    """

    def __init__(self, number: int | None, title: str, anchor: int) -> None:
        self.number = number
        self.title = title
        self.anchor = anchor
        self.extents: list[tuple[int, int]] = []
        self.fences: list[int] = []
        self.tools: list[ToolDeclaration] = []
        self.calls: list[CallDeclaration] = []
        self.handovers: list[HandoverDeclaration] = []
        self.diagnosed: dict[int, list[tuple[int, int]]] = {}
        self.handed: dict[int, list[tuple[int, int]]] = {}

    @property
    def declares(self) -> bool:
        """Whether it has a declaration in the sense of T9, or calls."""
        return bool(self.tools or self.calls) or any(h.fence is not None or not h.closed for h in self.handovers)

    @property
    def indices(self) -> Iterator[int]:
        """Of its blocks, in order."""
        return chain.from_iterable([range(start, end) for start, end in self.extents])


class _Reader:
    def __init__(self, source: Source, stem: str) -> None:
        self.source = source
        self.stem = stem
        self.blocks = read_blocks(source)
        self.anchors = Anchors()
        self.findings: list[Finding] = []
        self.fences: list[Fence] = []
        self.leaf_at: dict[int, LeafText] = {}
        self.last_line = len(source.lines)  # the last one that is not blank
        while not source.lines[self.last_line - 1].strip(" \t"):
            self.last_line -= 1
        labels: list[str] = []
        # By kind, their indices: what follows looks at most blocks only where they may be of interest.
        self.headings: list[int] = []  # outside of all containers
        self.texts: list[int] = []  # headings and paragraphs
        self.codes: list[int] = []
        self.fence_of: dict[int, int] = {}
        for index, block in enumerate(self.blocks):
            kind = block.kind
            if block.nesting:
                continue
            if kind == "paragraph":
                self.texts.append(index)
            elif kind == "heading":
                self.texts.append(index)
                if not block.depth:
                    self.headings.append(index)
            elif kind == "fence":
                self.fence_of[index] = len(self.fence_of)
            elif kind == "definition":
                labels.append(block.label)
            elif kind in ("code", "html"):
                self.codes.append(index)
        self.labels = frozenset(labels)

    # ------------------------------------------------------------------------------------------ the whole

    def read(self) -> tuple[ParsedDocument, Positions, tuple[Finding, ...]]:
        outline = read_outline(self.blocks, self.headings, self.leaf, self.labels)
        name = outline.name or self.stem
        listed = self.listed_items(outline)
        readings = self.read_leaves(outline, listed)
        outside, phases = self.sections(outline, name)
        telling = sorted({*self.fence_of, *readings, *listed.ends, *listed.unreadable, *self.codes}, reverse=True)
        previous: int | None = None
        seen: set[int] = set()
        for part, start, end in self.extents(outline, outside, phases):
            part.extents.append((start, end))
            if part.number is not None:
                part.anchor = self.anchors.add(self.heading_span(self.blocks[start]))
                self.check_number(part.number, previous, seen, part.anchor)
                previous = part.number
                seen.add(part.number)
            while telling and telling[-1] < end:
                index = telling.pop()
                if index in self.fence_of:
                    self.take_fence(part, index)
                elif index in readings:
                    if index in listed.ends:
                        self.take_listed(part, index, readings[index])
                    self.take_reading(part, index, readings[index])
                elif index in listed.ends:
                    self.take_listed(part, index, None)
                elif self.blocks[index].kind in ("code", "html"):
                    self.take_code(part, index)
                if index in listed.unreadable:
                    self.take_unreadable_item(part, index)
        hand_text = [self.hands_text(part) for part in phases]
        document = ParsedDocument(
            name,
            "multi" if outline.phases else "single",
            tuple(self.fences),
            self.finish(outside, False, any(hand_text) and bool(outline.phases)),
            tuple([self.finish(part, True, hands) for part, hands in zip(phases, hand_text, strict=True)]),
        )
        return document, tuple(self.anchors.spans), tuple(self.findings)

    def sections(self, outline: Outline, name: str) -> tuple[_Part, list[_Part]]:
        origin = self.anchors.add(Span(1, 1, 1, len(self.source.lines[0]) + 1))
        outside = _Part(None, "", origin)
        if not outline.phases:
            return outside, [_Part(None, name, origin)]
        return outside, [_Part(heading.number, heading.title, origin) for heading, _, _ in outline.phases]

    def extents(self, outline: Outline, outside: _Part, phases: list[_Part]) -> Iterator[tuple[_Part, int, int]]:
        """In order: each section, or piece of what is outside all phases, and from where to where its blocks stand."""
        position, end = 0, len(self.blocks)
        if not outline.phases:
            yield phases[0], position, end
            return
        for part, (_, start, behind) in zip(phases, outline.phases, strict=True):
            if position < start:
                yield outside, position, start
            yield part, start, behind
            position = behind
        if position < end:
            yield outside, position, end

    # ------------------------------------------------------------------------------------- reading leaves

    def leaf(self, index: int) -> LeafText:
        leaf = self.leaf_at.get(index)
        if leaf is None:
            leaf = self.leaf_at[index] = LeafText(self.blocks[index].lines)
        return leaf

    def listed_items(self, outline: Outline) -> _Listed:
        listed = _Listed({}, set())
        for item in outline.listed:
            first = self.blocks[item + 1]
            if first.kind == "paragraph" and first.lines:
                listed.ends[item + 1] = min(len(first.lines[0].text) + 1, len(self.leaf(item + 1).text))
            elif not (first.kind == "html" and not without_comments(self.leaf(item + 1).text).strip()):
                listed.unreadable.add(item + 1)
        return listed

    def read_leaves(self, outline: Outline, listed: _Listed) -> dict[int, LeafReading]:
        """What the leaves declare.

        Read from the end of the document: a hand-over is one if it stands above a fence, or above one that does (V1,
        V7).
        """
        readings: dict[int, LeafReading] = {}
        for index in reversed(self.texts):
            lines = self.blocks[index].lines
            if not may_declare(lines[0].text if len(lines) == 1 else self.leaf(index).text):
                continue
            leaf = self.leaf(index)
            below: Below = "other"
            fence: int | None = None
            if index + 1 < len(self.blocks) and self.blocks[index + 1].depth == self.blocks[index].depth:
                following = self.blocks[index + 1]
                if following.kind == "fence":
                    below, fence = "fence", index + 1
                elif following.kind == "paragraph" and index + 1 in readings and readings[index + 1].chains:
                    below, fence = "chain", readings[index + 1].fence
            known = outline.readings.get(index) if below == "other" else None
            readings[index] = known or read_leaf(leaf, self.labels, below, listed.ends.get(index, 0))
            readings[index].fence = fence
        return readings

    # -------------------------------------------------------------------------------------- taking it in

    def report(self, name: str, part: _Part, anchor: int, variant: str = "", **arguments: Argument) -> None:
        self.findings.append(Finding(name, At(anchor), part.number, tuple(arguments.items()), (), variant))

    def heading_span(self, block: Block) -> Span:
        last = block.lines[-1] if block.lines else None
        end = last.column + len(last.text) if last else block.column + block.level
        return Span(block.line, block.column, last.number if last else block.line, end)

    def check_number(self, number: int, previous: int | None, seen: set[int], anchor: int) -> None:
        if number in seen:
            self.findings.append(Finding("phase-number-duplicate", At(anchor), number, (("number", number),)))
        elif previous is not None and number <= previous:
            arguments = (("number", number), ("previous", previous))
            self.findings.append(Finding("phase-number-order", At(anchor), number, arguments))

    def take_fence(self, part: _Part, index: int) -> None:
        block = self.blocks[index]
        language = block.info.strip(" \t").split(" ", 1)[0].split("\t", 1)[0]
        end = len(self.source.lines[block.line - 1]) + 1
        anchor = self.anchors.add(Span(block.line, block.column, block.line, end))
        part.fences.append(len(self.fences))
        self.fences.append(Fence(language or None, block.text, anchor))
        if not block.closed and block.end_line > self.last_line:
            self.report("fence-unclosed", part, anchor)

    def take_reading(self, part: _Part, index: int, reading: LeafReading) -> None:
        diagnosed = part.diagnosed.setdefault(index, [])
        for found in reading.found:
            anchor = self.anchors.add(reading.leaf.span(found.start, found.end))
            known = found.known
            if known is not None:
                items = place_items(reading.leaf, known.extents, found.inner, self.anchors)
                part.tools.append(ToolDeclaration(known.written, items, anchor))
                continue
            written = reading.written(found.start, found.end)
            if not found.closed:
                self.report("declaration-unclosed", part, anchor, found.kind, written=written)
            if found.kind == "handover":
                part.handovers.append(self.handover(reading, found, anchor, written))
                part.handed.setdefault(index, []).append((found.start, found.end))
                if found.closed and not found.direct:
                    diagnosed.append((found.start, found.end))
            elif not found.closed:
                part.tools.append(ToolDeclaration(written, (), anchor, closed=False))
            elif found.kind == "call":
                target = one_line(reading.clean[found.inner : found.end - 1])
                part.calls.append(CallDeclaration(written, target, anchor))
            else:
                part.tools.append(ToolDeclaration(written, self.items(reading, found.inner, found.end - 1), anchor))
        for lookalike in reading.lookalikes:
            anchor = self.anchors.add(reading.leaf.span(lookalike.start, lookalike.end))
            written = reading.written(lookalike.start, lookalike.end)
            self.report("declaration-lookalike", part, anchor, lookalike.kind, written=written, right=lookalike.right)
            diagnosed.append((lookalike.start, lookalike.end))
        self.take_code_spans(part, reading, diagnosed)

    def take_code_spans(self, part: _Part, reading: LeafReading, diagnosed: list[tuple[int, int]]) -> None:
        """Declarations in the leaf's code spans, but for spans that are a part of a declaration."""
        if not reading.inline.spans:
            return
        starts = [found.start for found in reading.found]
        for span in reading.inline.spans:
            if span.kind != "code":
                continue
            for start, end in declarations_in_code(reading.leaf.text[span.inner_start : span.inner_end]):
                first = span.inner_start + start
                around = bisect_right(starts, first) - 1
                if around < 0 or first >= reading.found[around].end:
                    self.in_code(part, reading.leaf, first, span.inner_start + end, "code-span", diagnosed)

    def items(self, reading: LeafReading, start: int, end: int) -> tuple[Item, ...]:
        extents = read_extents(reading.clean[start:end], reading.mask[start:end])
        return place_items(reading.leaf, extents, start, self.anchors)

    def handover(self, reading: LeafReading, found: Found, anchor: int, written: str) -> HandoverDeclaration:
        items: tuple[Item, ...] = ()
        marks: tuple[str, ...] | None = None
        form = found.readable if found.closed else None
        if form is not None:
            items = self.items(reading, form.tools_start, form.tools_end)
            if form.marks_start is not None:
                marks = read_marks(reading.inline, reading.clean, reading.mask, form.marks_start, found.end - 1)
        fence = self.fence_of[reading.fence] if found.direct and reading.fence is not None else None
        return HandoverDeclaration(written, anchor, fence, found.stacked, form is not None, items, marks, found.closed)

    def take_listed(self, part: _Part, index: int, reading: LeafReading | None) -> None:
        leaf = self.leaf(index)
        first = LeafText(leaf.lines[:1])
        inline = reading.inline if reading else scan_inline(leaf.text, self.labels)
        end = len(first.text)
        clean, mask = inline.mask(hide=())[:end], inline.mask()[:end]
        written = as_written(clean, 0, end)
        if not written:
            return
        anchor = self.anchors.add(first.span(0, len(first.text.rstrip())))
        items = place_items(first, read_extents(clean, mask), 0, self.anchors)
        part.tools.append(ToolDeclaration(written, items, anchor, listed=True))

    def take_unreadable_item(self, part: _Part, index: int) -> None:
        """An item of T4's list that begins with something else than text, or that is empty."""
        block = self.blocks[index]
        line = self.source.lines[block.line - 1]
        column = block.column if block.nesting >= 0 else len(line) + 1
        anchor = self.anchors.add(Span(block.line, column, block.line, max(column, len(line) + 1)))
        written = as_written(line, column - 1, len(line))
        item = Item(written, "", (), False, anchor)
        part.tools.append(ToolDeclaration(written, (item,), anchor, listed=True))

    def take_code(self, part: _Part, index: int) -> None:
        leaf, block = self.leaf(index), self.blocks[index]
        if not may_declare(leaf.text):
            return
        mask = text_mask(leaf.text) if block.kind == "html" else leaf.text
        diagnosed = part.diagnosed.setdefault(index, [])
        for start, end in declarations_in_code(mask):
            self.in_code(part, leaf, start, end, "html" if block.kind == "html" else "indented-code", diagnosed)

    def in_code(
        self, part: _Part, leaf: LeafText, start: int, end: int, variant: str, diagnosed: list[tuple[int, int]]
    ) -> None:
        anchor = self.anchors.add(leaf.span(start, end))
        self.report("declaration-in-code", part, anchor, variant, written=as_written(leaf.text, start, end))
        diagnosed.append((start, end))

    # ----------------------------------------------------------------------------------------- finishing

    def hands_text(self, part: _Part) -> bool:
        """Whether a fence is handed over as an argument, for which V5 looks for values."""
        return bool(part.handovers) and any(
            handover.readable
            and handover.fence is not None
            and not handover.stacked
            and not self.fences[handover.fence].typescript
            for handover in part.handovers
        )

    def finish(self, part: _Part, is_phase: bool, with_values: bool) -> Section:
        (start, end), *others = part.extents or [(0, 0)]
        blocks = self.blocks[start if part.number is None else start + 1 : end]  # without its heading
        for start, end in others:
            blocks += self.blocks[start:end]
        fences = [None if self.fences[fence].blank else fence for fence in part.fences] if part.fences else []
        prose = write_prose(blocks, fences)
        first = len(self.anchors.spans)
        mentionable: tuple[str, ...] = ()
        if is_phase and not part.declares:
            pieces = list(self.mentions(part))
            self.anchors.spans += [span for _, span in pieces]
            mentionable = tuple([text for text, _ in pieces])
        return Section(
            part.number,
            part.title,
            part.anchor,
            prose,
            tuple([fence for fence in fences if fence is not None]) if fences else (),
            tuple(part.tools),
            tuple(part.calls),
            tuple(part.handovers),
            mentionable,
            first,
            tuple(filter(None, self.values(part))) if with_values else (),
        )

    def mentions(self, part: _Part) -> Iterator[tuple[str, Span]]:
        for index in part.indices:
            block = self.blocks[index]
            if block.lines and block.kind in ("paragraph", "heading", "code", "html"):
                leaf = self.leaf(index)
                mask = text_mask(leaf.text) if block.kind == "html" else None
                yield from mentionable(leaf, self.labels, part.diagnosed.get(index, ()), mask)

    def values(self, part: _Part) -> Iterator[str]:
        for index in part.indices:
            block = self.blocks[index]
            if not block.lines:
                continue
            leaf = self.leaf(index)
            if block.kind in ("paragraph", "heading"):
                yield inline_values(leaf, self.labels, part.handed.get(index, ()))
            elif block.kind in ("code", "html"):
                yield block_values(leaf.text, html=block.kind == "html")


def read_document(source: Source, stem: str) -> tuple[ParsedDocument, Positions, tuple[Finding, ...]]:
    """The document, its positions, and what is to be said about it. `stem` names one without a level-1 heading (F5)."""
    with uncollected():  # what is read makes no cycles
        return _Reader(source, stem).read()
