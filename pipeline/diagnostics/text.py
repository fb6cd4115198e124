"""Diagnostics for people: the sentence, the source line, a caret under the place, and what to write instead.

weekly.md:3:23: error[AOP201] tool-unreadable: フェーズ 1 の宣言「(使う道具: 会計ソフト)」の「会計ソフト」は、…
  |
3 | ## フェーズ 1: 集める (使う道具: 会計ソフト)
  |                                  ^^^^^^^^^^
  = 直し方: 使えるツールの一覧にある名前で、…
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from pipeline.diagnostics.bind import Diagnostic
from pipeline.diagnostics.codes import Severity
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from pipeline.places import Span

_HELP: Final = {"ja": "直し方", "en": "help"}
_STYLES: Final = {"error": "1;31", "warning": "1;33", "gutter": "1;34", "help": "1;36", "strong": "1"}
_HEAD: Final = 2
"""Of a place of many lines, this many at the top are shown, and the last one."""


def _styled(text: str, style: str, color: bool) -> str:
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if color else text


def _marked_lines(span: Span, lines: Sequence[str]) -> list[tuple[int, int, int] | None]:
    """(line, first, end) for the source lines to show, 0-based code points; None where lines are left out."""
    line_number, column, end_line, end_column = span
    if end_line > line_number and end_column <= 1:
        end_line, end_column = end_line - 1, len(lines[end_line - 2]) + 1 if end_line - 2 < len(lines) else 1
    marked: list[tuple[int, int, int] | None] = []
    shown = range(line_number, min(end_line, len(lines)) + 1)
    for number in (*shown[:_HEAD], *shown[_HEAD:][-1:]):
        if number - line_number > _HEAD:
            marked.append(None)
        line = lines[number - 1]
        first = column - 1 if number == line_number else len(line) - len(line.lstrip())
        marked.append((number, first, end_column - 1 if number == end_line else len(line)))
    return marked


class _Snippets:
    """The source lines of a document as they stand below a sentence."""

    def __init__(self, lines: Sequence[str], color: bool, width: int) -> None:
        # wcwidth's tables take longer to load than a document to check, and most documents have no diagnostic.
        from pipeline.diagnostics.cells import excerpt  # noqa: PLC0415 - see above

        self._excerpt = excerpt
        self._lines = lines
        self._color = color
        self._width = width
        self._bar = _styled("|", "gutter", color)
        self._left_out = _styled("...", "gutter", color)

    def __call__(self, found: Diagnostic) -> tuple[str, list[str]]:
        """The margin that the lines' numbers take, and the lines."""
        line, column, end_line, end_column = found.line, found.column, found.end_line, found.end_column
        if line is None or column is None or end_line is None or end_column is None:
            return "", []
        if line == end_line <= len(self._lines):  # as nearly all
            margin = " " * len(str(line))
            shown, caret = self._marked(margin, line, column - 1, end_column - 1, found.severity)
            return margin, [f"{margin} {self._bar}", shown, caret]
        marked = _marked_lines(Span(line, column, end_line, end_column), self._lines)
        if not marked:
            return "", []
        room = max([len(str(entry[0])) for entry in marked if entry])
        margin = " " * room
        source = [f"{margin} {self._bar}"]
        for entry in marked:
            if entry is None:
                source.append(self._left_out)
                continue
            source += self._marked(margin, *entry, found.severity)
        return margin, source

    def _marked(self, margin: str, number: int, first: int, end: int, severity: Severity) -> tuple[str, str]:
        """A source line and the carets under it."""
        room = len(margin)
        text, mark, mark_width = self._excerpt(self._lines[number - 1], first, end, self._width - room - 3)
        shown, caret = str(number).rjust(room), "^" * mark_width
        if self._color:
            shown, caret = _styled(shown, "gutter", True), _styled(caret, severity, True)
        return f"{shown} {self._bar} {text}".rstrip(), f"{margin} {self._bar} {' ' * mark}{caret}"


def blocks(
    diagnostics: Iterable[Diagnostic], path: str, lines: Sequence[str], *, lang: Lang, color: bool, width: int
) -> Iterator[str]:
    """One block of lines, without a line end at its end, for each diagnostic.

    `path` as the user gave it; `lines` are the document's (none: only sentences); `width` is the terminal's, in
    columns: longer source lines are cropped around the caret. Colour is ANSI's.
    """
    document, snippet = visible(path), _Snippets(lines, color, width)
    advice = f"{_styled('=', 'gutter', color)} {_styled(f'{_HELP[lang]}:', 'help', color)}"
    for found in diagnostics:
        where = "" if found.line is None else f":{found.line}:{found.column}"
        kind = _styled(f"{found.severity}[{found.code}]", found.severity, color)
        head = f"{_styled(f'{document}{where}:', 'strong', color)} {kind} {found.name}: {found.message}"
        margin, source = snippet(found)
        yield "\n".join((head, *source, f"{margin} {advice} {found.help}"))


def render_text(
    diagnostics: Iterable[Diagnostic],
    path: str,
    lines: Sequence[str],
    *,
    lang: Lang,
    color: bool = False,
    width: int = 100,
) -> str:
    """All blocks, separated by blank lines, with a line end behind the last; "" without diagnostics."""
    return "".join(text_pieces(diagnostics, path, lines, lang=lang, color=color, width=width))


def text_pieces(
    diagnostics: Iterable[Diagnostic], path: str, lines: Sequence[str], *, lang: Lang, color: bool, width: int
) -> Iterator[str]:
    """`render_text` in pieces. Arguments as in `blocks`."""
    separator = ""
    for block in blocks(diagnostics, path, lines, lang=lang, color=color, width=width):
        yield f"{separator}{block}\n"
        separator = "\n"
