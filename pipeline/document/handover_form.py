"""The form of a hand-over declaration: what makes one (V1), the readable form, and its placeholders (V6)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from pipeline.document.inline import Inline

WORD = "この"
OPENING = re.compile(rf"[(（]\s*{WORD}")
_VERBATIM = "そのまま"
_HAND = "渡す"
OTHER_VERB = re.compile(r"渡します|渡して(?:ください|下さい)?")
"""What a look-alike says for 渡す (T10 d)."""
_TAIL = re.compile(r"に\s*、?\s*そのまま\s*渡す\s*。?\s*(?:(差し替え)\s*[:：])?")
_MARK_SEPARATOR = re.compile("[、,]")
_NOT_BLANK = re.compile(r"\S")


class Readable(NamedTuple):
    """Offsets: TOOLS is `text[tools_start:tools_end]`; MARKS begins at `marks_start`, None without `差し替え:`."""

    tools_start: int
    tools_end: int
    marks_start: int | None


class HandoverForms:
    """Answers, for any parenthesis of one text, in about constant time: a text may hold 100,000 nested ones."""

    def __init__(self, mask: str) -> None:
        self._mask = mask
        self._verbatim = [m.start() for m in re.finditer(_VERBATIM, mask)]
        self._hand = [m.start() for m in re.finditer(_HAND, mask)]
        self._other = [m.start() for m in OTHER_VERB.finditer(mask)]
        self._objects = [m.start() for m in re.finditer("を", mask)]
        self._exact: dict[int, int] = {}
        self._with_marks: list[tuple[int, int]] = []
        for match in _TAIL.finditer(mask):
            if match.group(1):
                self._with_marks.append((match.start(), match.end()))
            else:
                self._exact[match.end()] = match.start()

    def _words(self, start: int, end: int, verbs: list[int]) -> bool:
        first = bisect_left(self._verbatim, start)
        if first == len(self._verbatim):
            return False
        verb = bisect_left(verbs, self._verbatim[first] + len(_VERBATIM))
        return verb < len(verbs) and verbs[verb] < end

    def declares(self, start: int, end: int) -> bool:
        """Whether `mask[start:end]`, in a parenthesis that begins with この, holds そのまま and later 渡す (V1)."""
        return self._words(start, end, self._hand)

    def resembles(self, start: int, end: int) -> bool:
        """The same with 渡します or 渡して for the verb (T10 d)."""
        return not self.declares(start, end) and self._words(start, end, self._other)

    def read(self, start: int, end: int) -> Readable | None:
        """The readable form of V1, `start` behind この; None where it is not readable."""
        stripped = end
        while stripped > start and self._mask[stripped - 1].isspace():
            stripped -= 1
        tails: list[tuple[int, int | None]] = []
        for candidate in (end, stripped):
            if candidate in self._exact and self._exact[candidate] >= start:
                tails.append((self._exact[candidate], None))
                break
        last = bisect_right(self._with_marks, (end, 0)) - 1
        while last >= 0 and self._with_marks[last][1] > end:
            last -= 1
        if last >= 0 and self._with_marks[last][0] >= start:
            tails.append(self._with_marks[last])
        for tail, marks in tails:
            object_at = bisect_left(self._objects, tail) - 1
            while object_at >= 0 and self._objects[object_at] > start:
                at = self._objects[object_at]
                if _NOT_BLANK.search(self._mask, at + 1, tail):
                    if _NOT_BLANK.search(self._mask, start, at):
                        return Readable(at + 1, tail, marks)
                    break
                object_at -= 1
        return None


def read_marks(inline: Inline, clean: str, mask: str, start: int, end: int) -> tuple[str, ...]:
    """The placeholders in `text[start:end]` (V6); an empty string stands for an empty one."""
    while end > start and mask[end - 1].isspace():
        end -= 1
    if end > start and mask[end - 1] == "。":
        end -= 1
    codes = [span for span in inline.spans if span.kind == "code" and start <= span.start and span.end <= end]
    marks: list[str] = []
    begin = start
    for stop in [*(m.start() for m in _MARK_SEPARATOR.finditer(mask, start, end)), end]:
        part: list[str] = []
        position = begin
        while codes and codes[0].end <= stop:
            code = codes.pop(0)
            part += [_plain(clean[position : code.start]), code_content(inline.text[code.inner_start : code.inner_end])]
            position = code.end
        part.append(_plain(clean[position:stop]))
        marks += [mark for mark in part if mark] or [""]
        begin = stop + 1
    return tuple(marks)


def _plain(text: str) -> str:
    return text.replace("\n", " ").strip()


def code_content(inner: str) -> str:
    """A code span's content as CommonMark reads it: line ends as spaces, a blank at both ends off."""
    text = inner.replace("\n", " ")
    if len(text) > 1 and text[0] == " " and text[-1] == " " and text.strip(" "):
        return text[1:-1]
    return text
