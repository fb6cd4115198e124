"""Inline structure as far as the language needs it, with its places in the text (CommonMark 0.31, chapter 6).

Found are code spans, raw HTML, autolinks, backslash escapes, links and images, and on request emphasis. It is our own
because markdown-it-py's inline parser keeps no positions, and some of its rules take quadratic time: every declaration
needs a column, in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pipeline.document.emphasis import Delimiters
from pipeline.document.rules.definition import normalize_label

MASKED = "\0"
"""Stands in a mask for a character that is no text; a document holds no NUL (F3)."""

SpanKind = Literal["code", "comment", "tag", "autolink", "tail", "escape", "bracket"]


class InlineSpan(NamedTuple):
    """`text[start:end]`. tail: a link's `](…)`, `][…]` or the `]` of a shortcut; bracket: its `[` or `![`.

    comment: also a processing instruction, a declaration, CDATA: raw HTML that holds no text of the document.
    `inner_start`/`inner_end`: a code span's content.
    """

    kind: SpanKind
    start: int
    end: int
    inner_start: int = 0
    inner_end: int = 0


@dataclass(slots=True)
class Inline:
    """The spans of a text, in order of their ends, and where emphasis marks stand (only if asked for)."""

    text: str
    spans: Sequence[InlineSpan] = ()
    emphasis: Sequence[tuple[int, int]] = ()

    def mask(
        self, blank: Container[str] = ("comment",), hide: Container[str] = ("code", "tag", "autolink", "tail", "escape")
    ) -> str:
        """The text, as long as it is, with spans of the `blank` kinds as spaces and of the `hide` kinds as `MASKED`."""
        if not self.spans:
            return self.text
        parts, position = [], 0
        for span in sorted(self.spans, key=lambda s: s.start):
            filler = " " if span.kind in blank else MASKED if span.kind in hide else ""
            if not filler or span.start < position:
                continue
            parts.append(self.text[position : span.start])
            parts.append(filler * (span.end - span.start))
            position = span.end
        parts.append(self.text[position:])
        return "".join(parts)


_SPECIAL = re.compile(r"[\\`<\[\]!]")
_SPECIAL_OR_EMPHASIS = re.compile(r"[\\`<\[\]!*_]")
_BACKTICKS = re.compile(r"`+")
_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_AUTOLINK = re.compile(
    r"<[A-Za-z][A-Za-z0-9+.\-]{1,31}:[^\x00-\x20<>\x7f]*>"
    r"|<[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?"
    r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*>"
)
_SPACE = r"[ \t\n]"
TAG = (
    rf"<[A-Za-z][A-Za-z0-9-]*+"
    rf"(?:{_SPACE}++[A-Za-z_:][A-Za-z0-9_.:-]*+(?:{_SPACE}*+={_SPACE}*+(?:[^ \t\n\"'=<>`]++|'[^']*+'|\"[^\"]*+\"))?+)*+"
    rf"{_SPACE}*+/?>"
    rf"|</[A-Za-z][A-Za-z0-9-]*+{_SPACE}*+>"
)
_TAG = re.compile(TAG)
_DESTINATION_STOP = re.compile(r"\\[!-/:-@\[-`{-~]|[()]|[\x00-\x20\x7f]")
_ANGLE_DESTINATION = re.compile(r"<(?:[^<>\n\\]|\\.)*+>")
_TITLE = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)", re.DOTALL)
_BLANKS = re.compile(r"[ \t\n]*")
_LABEL = re.compile(r"\[((?:[^\[\]\\]|\\.){0,999})\]", re.DOTALL)
_MAX_NESTED_PARENTHESES = 32
"""As cmark has it; it bounds the scan from each `](`."""


class _Scanner:
    def __init__(self, text: str, labels: Container[str], emphasis: bool) -> None:
        self.text = text
        self.labels = labels
        self.spans: list[InlineSpan] = []
        # Where the text behind the bracket starts, how many delimiters are before it, whether it is an image's.
        self.brackets: list[tuple[int, int, bool]] = []
        self.inactive = 0  # brackets below this index open no link: they stand around one
        self.delimiters = Delimiters(text) if emphasis else None
        self.closers: dict[int, list[int]] | None = None
        self.missing: set[str] = set()

    def run(self) -> Inline:
        text, position = self.text, 0
        special = _SPECIAL_OR_EMPHASIS if self.delimiters is not None else _SPECIAL
        rules: dict[str, Callable[[int], int]] = {
            "\\": self.escape,
            "`": self.code,
            "<": self.angle,
            "[": self.open_link,
            "!": self.open_image,
            "]": self.close,
            "*": self.delimiter,
            "_": self.delimiter,
        }
        while match := special.search(text, position):
            position = rules[match.group()](match.start())
        return Inline(text, self.spans, () if self.delimiters is None else self.delimiters.finish())

    def add(self, kind: SpanKind, start: int, end: int, inner_start: int = 0, inner_end: int = 0) -> int:
        self.spans.append(InlineSpan(kind, start, end, inner_start, inner_end))
        return end

    def escape(self, at: int) -> int:
        if self.text[at + 1 : at + 2] in _PUNCTUATION:
            return self.add("escape", at, at + 2)
        return at + 1

    def code(self, at: int) -> int:
        match = _BACKTICKS.match(self.text, at)
        end = match.end() if match else at + 1
        if self.closers is None:
            self.closers = {}
            for run in _BACKTICKS.finditer(self.text):
                self.closers.setdefault(run.end() - run.start(), []).append(run.start())
            for runs in self.closers.values():
                runs.reverse()
        runs = self.closers.get(end - at, [])
        while runs and runs[-1] < end:
            runs.pop()
        if not runs:
            return end
        close = runs[-1]
        return self.add("code", at, close + end - at, end, close)

    def until(self, marker: str, start: int) -> int:
        """The end of the first `marker` from `start` on, or -1; a marker once missed is not looked for again."""
        if marker in self.missing:
            return -1
        found = self.text.find(marker, start)
        if found < 0:
            self.missing.add(marker)
            return -1
        return found + len(marker)

    def angle(self, at: int) -> int:
        text = self.text
        if match := _AUTOLINK.match(text, at):
            return self.add("autolink", at, match.end())
        if match := _TAG.match(text, at):
            return self.add("tag", at, match.end())
        end = -1
        if text.startswith("<!--", at):
            if text.startswith(("<!-->", "<!--->"), at):
                end = at + (5 if text[at + 4] == ">" else 6)
            else:
                end = self.until("-->", at + 4)
        elif text.startswith("<?", at):
            end = self.until("?>", at + 2)
        elif text.startswith("<![CDATA[", at):
            end = self.until("]]>", at + 9)
        elif text.startswith("<!", at) and text[at + 2 : at + 3].isascii() and text[at + 2 : at + 3].isalpha():
            end = self.until(">", at + 2)
        return self.add("comment", at, end) if end >= 0 else at + 1

    def open_link(self, at: int) -> int:
        self.brackets.append((at + 1, self.delimiters.mark() if self.delimiters else 0, False))
        return at + 1

    def open_image(self, at: int) -> int:
        if not self.text.startswith("[", at + 1):
            return at + 1
        self.brackets.append((at + 2, self.delimiters.mark() if self.delimiters else 0, True))
        return at + 2

    def close(self, at: int) -> int:
        if not self.brackets:
            return at + 1
        start, mark, image = self.brackets.pop()
        active = image or len(self.brackets) >= self.inactive
        self.inactive = min(self.inactive, len(self.brackets))
        if not active:
            return at + 1
        end = self.tail(start, at)
        if end < 0:
            return at + 1
        self.add("bracket", start - (2 if image else 1), start)
        self.add("tail", at, end)
        if self.delimiters is not None:
            self.delimiters.close(mark)
        if not image:
            self.inactive = len(self.brackets)
        return end

    def tail(self, start: int, at: int) -> int:
        """The end of what makes `[…]`, closed at `at`, a link; -1 if it is none."""
        text = self.text
        if text.startswith("(", at + 1):
            end = self.inline_tail(at + 2)
            if end >= 0:
                return end
        if not self.labels:
            return -1
        match = _LABEL.match(text, at + 1)
        if match and match.group(1):
            return match.end() if normalize_label(match.group(1)) in self.labels else -1
        if at - start > 999 or normalize_label(text[start:at]) not in self.labels:
            return -1
        return match.end() if match else at + 1

    def inline_tail(self, at: int) -> int:
        text = self.text
        position = self.skip(at)
        if text.startswith("<", position):
            match = _ANGLE_DESTINATION.match(text, position)
            if not match:
                return -1
            end = match.end()
        else:
            end = self.destination(position)
            if end < 0:
                return -1
        behind = self.skip(end)
        if behind > end and (title := _TITLE.match(text, behind)):
            behind = self.skip(title.end())
        return behind + 1 if text.startswith(")", behind) else -1

    def skip(self, at: int) -> int:
        match = _BLANKS.match(self.text, at)
        return match.end() if match else at

    def destination(self, at: int) -> int:
        depth, position = 0, at
        while match := _DESTINATION_STOP.search(self.text, position):
            stop = match.group()
            if stop == "(":
                depth += 1
                if depth > _MAX_NESTED_PARENTHESES:
                    return -1
            elif stop == ")":
                if not depth:
                    return match.start()
                depth -= 1
            elif len(stop) == 1:
                return match.start() if not depth else -1
            position = match.end()
        return -1

    def delimiter(self, at: int) -> int:
        return self.delimiters.add(at) if self.delimiters is not None else at + 1


def scan_inline(text: str, labels: Container[str] = (), *, emphasis: bool = False) -> Inline:
    """The inline structure of a paragraph's or heading's text. `labels`: the document's, normalized."""
    # No link without a `]`. Four looks for a character take less time than one for any of a class.
    plain = "\\" not in text and "`" not in text and "<" not in text and "]" not in text
    if plain and not (emphasis and ("*" in text or "_" in text)):
        return Inline(text)
    return _Scanner(text, labels, emphasis).run()
