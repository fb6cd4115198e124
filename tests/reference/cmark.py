"""A document's block structure as one list: from `read_blocks`, and from cmark, CommonMark's reference implementation.

An entry is `("open", kind, line)` or `("close", kind)` for a container, else `("paragraph",)`, `("rule", line)`,
`("html", line)`, `("heading", level, inlines)`, `("code", line, text)` or `("fence", line, info, text)`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from paka.cmark import to_xml

from tests.document.blocks_of import blocks_of

Inlines = tuple[tuple[str, str], ...]
Entry = tuple[str | int | Inlines, ...]

_CONTAINERS = {"block_quote": "quote", "list": "list", "item": "item"}
_NOT_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_OTHER_BLANKS = "\v\f"
"""cmark strips these off headings and info strings, too; CommonMark's words do not (ours: F3)."""


def our_structure(text: str) -> list[Entry]:
    entries: list[Entry] = []
    for block in blocks_of(text):
        match block.kind:
            case "quote" | "list" | "item":
                entries.append(("open", block.kind, block.line) if block.nesting == 1 else ("close", block.kind))
            case "paragraph":
                entries.append(("paragraph",))
            case "rule" | "html":
                entries.append((block.kind, block.line))
            case "heading":
                entries.append(("heading", block.level, _inlines_of([line.text for line in block.lines], text)))
            case "code":
                code = "".join(line.text + "\n" for line in block.lines)
                entries.append(("code", block.line, _unindented(code)))
            case "fence":
                info = _info(_ESCAPE.sub(r"\1", html.unescape(block.info)))
                entries.append(("fence", block.line, info, _NOT_XML.sub("\ufffd", block.text)))
            case "definition":
                pass
    return entries


def cmark_structure(text: str) -> list[Entry]:
    return list(_entries(_root(text), re.split(r"\r\n|\r|\n", text)))


def _root(text: str) -> ElementTree.Element:
    # cmark writes control characters into its XML as they are, which XML does not know.
    xml = _NOT_XML.sub("\ufffd", to_xml(text, sourcepos=True).split("<document", 1)[1])
    plain = "<document" + xml.replace(' xmlns="http://commonmark.org/xml/1.0"', "", 1)
    return ElementTree.fromstring(plain)  # noqa: S314 - written by cmark, without entities of its own


def _entries(parent: ElementTree.Element, lines: list[str]) -> Iterator[Entry]:
    for node in parent:
        line, column = (int(number) for number in node.get("sourcepos", "0:0-").split("-")[0].split(":"))
        if kind := _CONTAINERS.get(node.tag):
            yield "open", kind, line
            yield from _entries(node, lines)
            yield "close", kind
        elif node.tag == "paragraph":
            yield ("paragraph",)
        elif node.tag == "heading":
            yield "heading", int(node.get("level", "0")), _inlines(node)
        elif node.tag == "thematic_break":
            yield "rule", line
        elif node.tag == "html_block":
            yield "html", line
        else:
            code = node.text or ""
            opening = lines[line - 1][column - 1 :]
            # The XML does not tell a fence from indented code. Only the latter's text has the block's first line.
            if node.get("info") or (opening[:3] in ("```", "~~~") and code.split("\n")[0] != opening):
                yield "fence", line, _info(node.get("info", "")), code
            else:
                yield "code", line, _unindented(code)


def _inlines(node: ElementTree.Element) -> Inlines:
    """What cmark reads a heading's text as, from its outermost inline to the last; runs of text are one."""
    inlines: list[tuple[str, str]] = []
    for inline in list(node.iter())[1:]:
        tag, text = inline.tag, (inline.text or "").replace("\ufffd", "")
        if tag == "text" and inlines and inlines[-1][0] == "text":
            text = inlines.pop()[1] + text
        inlines.append((tag, text))
    # cmark keeps the indentation of a lazy line, which is seen inside raw HTML only. CommonMark's rule of laziness says
    # that it reads as the same line behind the markers does: without.
    unindented = ((tag, re.sub(r"\n +", "\n", text) if tag == "html_inline" else text) for tag, text in inlines)
    stripped = ((tag, text.strip(" ")) for tag, text in unindented)
    return tuple((tag, text) for tag, text in stripped if text or tag != "text")


def _inlines_of(lines: list[str], document: str) -> Inlines:
    """The same for a heading's lines as `read_blocks` has them. cmark reads them as a paragraph in front of the
    document, so that its link reference definitions count; a word before keeps the text from being another block."""
    paragraph = _root("x " + "\n      ".join(lines) + "\n\n" + document)[0]
    first = next(paragraph.iter("text"))
    first.text = (first.text or "").removeprefix("x")
    return _inlines(paragraph)


def _info(text: str) -> str:
    """XML normalizes white space in attributes."""
    return re.sub(r"[\t\n]", " ", text).strip(" " + _OTHER_BLANKS)


def _unindented(code: str) -> str:
    """Indented code without the columns that a cut tab leaves, which have no place in the source."""
    return "\n".join(line.lstrip(" ") for line in _NOT_XML.sub("\ufffd", code).split("\n"))
