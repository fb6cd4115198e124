"""The pages of `docs/codes` as literate tests: their examples, what they show, and how to compile them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from markdown_it import MarkdownIt

from catalog.view import CatalogView
from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.diagnostics.codes import Code
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.pages import page_name
from pipeline.diagnostics.text import render_text
from pipeline.document.source import DEFAULT_MAX_BYTES, Source, read_source
from pipeline.places import Positions
from pipeline.project import Project, ProjectDocument
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

PAGES = Path(__file__).parents[2] / "docs" / "codes"
NAME = "example.md"
HEADINGS: dict[Lang, tuple[str, ...]] = {
    "en": ("What it means", "Why it matters", "Example", "What to write instead"),
    "ja": ("意味", "なぜ問題か", "例", "書き直し方"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """A document with those that it calls, by file name; `codes` are what it must give, each once."""

    text: str
    codes: tuple[str, ...]
    max_bytes: int = DEFAULT_MAX_BYTES
    siblings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """`shown`: what the page says that the compiler prints; `shown_lines`: where, 0-based lines, end exclusive."""

    text: str
    title: str
    headings: tuple[str, ...]
    wrong: Example | None
    right: Example | None
    shown: str
    shown_lines: tuple[int, int]


def read_page(entry: Code, lang: Lang) -> Page:
    """Fences `aop-error CODE`, `aop-warning CODE` and `aop` (with `max-bytes=N` for a smaller limit) hold the examples,
    those with `file=NAME` behind them what they call; the fence `text` is what is printed."""
    text = (PAGES / page_name(entry, lang)).read_text(encoding="utf-8")
    tokens = MarkdownIt("commonmark").parse(text)
    headings: list[str] = []
    examples: dict[str, Example] = {}
    latest = ""
    shown, shown_lines = "", (0, 0)
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            headings.append(tokens[index + 1].content)
        if token.type != "fence" or token.map is None:
            continue
        kind, *words = token.info.split()
        options = dict(word.split("=", 1) for word in words if "=" in word)
        if kind == "text":
            shown, shown_lines = token.content, (token.map[0] + 1, token.map[1] - 1)
        elif "file" in options:
            siblings = (*examples[latest].siblings, (options["file"], token.content))
            examples[latest] = replace(examples[latest], siblings=siblings)
        else:
            latest = "right" if kind == "aop" else "wrong"
            codes = tuple(word for word in words if "=" not in word)
            examples[latest] = Example(token.content, codes, int(options.get("max-bytes", DEFAULT_MAX_BYTES)))
    return Page(
        text, headings[0], tuple(headings[1:]), examples.get("wrong"), examples.get("right"), shown, shown_lines
    )


def _listed(path: str, text: str) -> ProjectDocument | None:
    parsed = parse(text.encode(), Path(path).stem).artifact
    if parsed is None:
        return None
    calls = [call.target for section in (parsed.outside, *parsed.phases) for call in section.calls]
    return ProjectDocument(path, parsed.name, tuple(calls))


def findings(example: Example, catalog: CatalogView) -> tuple[list[Finding], Positions]:
    """What parse and resolve say about the example."""
    data = example.text.encode()
    outcome = parse(data, Path(NAME).stem, example.max_bytes)
    found = list(outcome.findings)
    if outcome.artifact is not None:
        documents: Mapping[str, str] = {NAME: example.text, **dict(example.siblings)}
        listed = [_listed(path, text) for path, text in documents.items()]
        project = Project(entry for entry in listed if entry is not None)
        found += resolve(outcome.artifact, catalog, project, NAME).findings
    return found, outcome.positions


def check(example: Example, catalog: CatalogView, lang: Lang) -> list[Diagnostic]:
    """The same, bound and in words."""
    return bind(*findings(example, catalog), lang)


def printed(example: Example, diagnostics: list[Diagnostic], lang: Lang) -> str:
    """What the text format prints for the example."""
    source = read_source(example.text.encode(), example.max_bytes)
    return render_text(diagnostics, NAME, source.lines if isinstance(source, Source) else [], lang=lang)
