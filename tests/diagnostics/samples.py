"""Diagnostics for the tests of the renderers."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.lang import Lang
from pipeline.places import At, Span


def at(span: Span | None, lang: Lang = "ja", name: str = "tool-unreadable", written: str = "x") -> Diagnostic:
    """A diagnostic at `span`; by default about an unreadable tool that freee was meant by."""
    variant = "empty" if name == "document-unreadable" else ""
    arguments = (("item", written), ("declaration", f"(使う道具: {written})"))
    finding = Finding(name, None if span is None else At(0), 1, arguments, ("freee",), variant)
    return bind([finding], () if span is None else (span,), lang)[0]


def of(lines: Sequence[str], text: str, number: int = 1, lang: Lang = "ja") -> Diagnostic:
    """A diagnostic at the first `text` in line `number`."""
    column = lines[number - 1].index(text) + 1
    return at(Span(number, column, number, column + len(text)), lang, written=text)
