"""Link reference definitions at the beginning of a paragraph's text.

Corrects the library's `reference`, which takes a definition off before the paragraph's end is known, so that the line
behind it is no paragraph continuation text (indented code, a lone tag, an item numbered 2), and which takes all Unicode
white space around a label for blanks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_LABEL = re.compile(r"\[((?:[^\\\[\]]|\\.)*+)\]:", re.DOTALL)
_MAX_LABEL = 999
_GAP = re.compile(r"[ \t]*+(?:\n[ \t]*+)?")
_DESTINATION = re.compile(r"(<(?:[^<>\\\n]|\\[^\n])*+>)|(?!<)([^\x00-\x20\x7f]++)")
_ESCAPE = re.compile(r"\\[!-/:-@\[-`{-~]")
_TITLE = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|\((?:[^()\\]|\\.)*+\)""", re.DOTALL)
_LINE_END = re.compile(r"[ \t]*+(?:\n|\Z)")
_BLANKS = re.compile(r"[ \t\n]+")


class Definition(NamedTuple):
    """`label`: normalized. `end`: the position in the text behind the definition's last line."""

    label: str
    end: int


def normalize_label(label: str) -> str:
    """A link label (without its brackets) as CommonMark compares it: case-folded, blanks and line ends as one space."""
    return _BLANKS.sub(" ", label).strip(" ").casefold()


def read_definition(text: str, start: int) -> Definition | None:
    """The definition that begins at `start` of a paragraph's text, if any."""
    match = _LABEL.match(text, start)
    if match is None or len(match[1]) > _MAX_LABEL:
        return None
    label = normalize_label(match[1])
    destination = _DESTINATION.match(text, _after_gap(text, match.end()))
    if not label or destination is None or (destination[2] and not _balanced(destination[2])):
        return None
    behind = destination.end()
    title = _after_gap(text, behind)
    if title > behind and (quoted := _TITLE.match(text, title)) and (end := _LINE_END.match(text, quoted.end())):
        return Definition(label, end.end())
    end = _LINE_END.match(text, behind)
    return Definition(label, end.end()) if end else None


def _after_gap(text: str, position: int) -> int:
    """Behind blanks with at most one line end among them."""
    match = _GAP.match(text, position)
    return match.end() if match else position


def _balanced(destination: str) -> bool:
    """Whether each parenthesis that is not escaped has its partner."""
    depth = 0
    for char in _ESCAPE.sub("", destination):
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth < 0:
                return False
    return depth == 0
