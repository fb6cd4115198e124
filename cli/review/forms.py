"""The forms of a comparison for people: text for a terminal, Markdown for a review's comment."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from cli.review.outline import Difference, Entry, Heading, Mark, Point
from pipeline.diagnostics.visible import visible

_SIGNS: Final[dict[Mark, str]] = {"plain": " ", "added": "+", "removed": "-", "alert": "!"}
_STYLES: Final[dict[str, str]] = {"added": "32", "removed": "31", "alert": "1;31", "heading": "1", "hunk": "36"}


def as_text(entries: Iterable[Entry], *, color: bool) -> Iterator[str]:
    """Lines without line ends."""

    def styled(text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if color and style in _STYLES else text

    for number, entry in enumerate(entries):
        match entry:
            case Heading():
                if number:
                    yield ""
                yield styled(entry.text, "heading")
            case Point():
                yield styled(f"  {_SIGNS[entry.mark]} {entry.text}", entry.mark)
            case Difference():
                for line in entry.lines:
                    style = {"+": "added", "-": "removed", "@": "hunk"}.get(line[:1], "")
                    yield styled(f"      {visible(line)}", style)


def as_markdown(entries: Iterable[Entry], title: str) -> Iterator[str]:
    """Lines without line ends. What a document says cannot become mark-up: it is escaped, or stands in a fence."""
    yield f"## {_escaped(title)}"
    list_begins = True
    for entry in entries:
        match entry:
            case Heading():
                yield from ("", f"### {_escaped(entry.text)}")
                list_begins = True
            case Point():
                if list_begins:
                    yield ""
                    list_begins = False
                text = _escaped(entry.text)
                yield f"- **⚠ {text}**" if entry.mark == "alert" else f"- {text}"
            case Difference():
                fence = "`" * max(3, 1 + max((_backticks(line) for line in entry.lines), default=0))
                yield from ("", f"  {fence}diff", *(f"  {line}" for line in entry.lines), f"  {fence}", "")


def _backticks(line: str) -> int:
    longest = run = 0
    for character in line:
        run = run + 1 if character == "`" else 0
        longest = max(longest, run)
    return longest


def _escaped(text: str) -> str:
    return "".join(f"\\{character}" if character in "\\`*_[]<>#|~" else character for character in text)
