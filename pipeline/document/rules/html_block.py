"""HTML blocks. Corrects the library, which takes all Unicode white space for blanks: `<div　>` begins no block."""

from __future__ import annotations

import re

from pipeline.document.block import Block, TextLine
from pipeline.document.rules.state import CODE_INDENT, Reading

_RAW = "script|pre|style|textarea"
_NAMES = (
    "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|"
    "figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|"
    "noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul"
)
_VALUE = r"""(?:[^ \t"'=<>`]++|'[^']*+'|"[^"]*+")"""
_ATTRIBUTE = rf"[ \t]++[a-z_:][a-z0-9_.:-]*+(?:[ \t]*+=[ \t]*+{_VALUE})?"
_FLAGS = re.ASCII | re.IGNORECASE

# Most documents have no HTML: these two are compiled by the first that has some.
_START = (
    rf"<(?:(?P<raw>(?:{_RAW})(?=[ \t>]|\Z))|(?P<comment>!--)|(?P<instruction>\?)|(?P<declaration>![a-z])|"
    rf"(?P<cdata>!\[CDATA\[)|(?P<element>/?(?:{_NAMES})(?=[ \t]|/?>|\Z)))"
)
# CommonMark's words except the raw tags here, its reference implementations do not: `</script>` begins a block.
_TAG = rf"<(?:[a-z][a-z0-9-]*+(?:{_ATTRIBUTE})*+[ \t]*+/?|/[a-z][a-z0-9-]*+[ \t]*+)>[ \t]*+\Z"
_END = {
    "raw": re.compile(rf"</(?:{_RAW})>", _FLAGS),
    "comment": re.compile("-->"),
    "instruction": re.compile(r"\?>"),
    "declaration": re.compile(">"),
    "cdata": re.compile(r"\]\]>"),
}
"""The others end before a blank line."""


def html_block(state: Reading, start: int, end: int, silent: bool) -> bool:
    row, first = state.row, state.first
    if row[first] != "<" or state.first_column - state.column >= CODE_INDENT:
        return False
    match = re.compile(_START, _FLAGS).match(row, first)
    if silent:
        # A lone tag interrupts no paragraph, not even one that would go on lazily.
        return match is not None
    if match is None and not re.compile(_TAG, _FLAGS).match(row, first):
        return False
    closing = _END.get(match.lastgroup or "") if match else None
    lines = [_line(state, start)]
    number = start + 1
    if closing is None or not closing.search(row, first):
        while number < end and state.enter(number):
            if closing is None and state.first == len(state.row):
                break
            lines.append(_line(state, number))
            number += 1
            if closing is not None and closing.search(state.row, state.first):
                break
    state.blocks.append(Block("html", 0, state.depth, start + 1, number + 1, first + 1, lines=tuple(lines)))
    state.reached = state.line = number
    return True


def _line(state: Reading, number: int) -> TextLine:
    position, _ = state.cut(state.column)
    return TextLine(number + 1, position + 1, state.row[position:])
