"""The checkable examples of the documentation: fences whose info string says what they must show.

`aop` compiles without any diagnostic, `aop-error CODE…` and `aop-warning CODE…` give exactly these codes. `file=NAME`
names the example's file and puts it into the project of every other example of its page, so that calls can lead there.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

from catalog.view import CatalogView
from pipeline.diagnostics.codes import CODES
from pipeline.project import Project, ProjectDocument
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("aop", "aop-error", "aop-warning")


@dataclass(frozen=True, slots=True)
class Snippet:
    """`line`: 1-based, of the fence's opening line in its page. `codes`: what checking it must give, sorted."""

    page: str
    line: int
    kind: str
    codes: tuple[str, ...]
    file: str | None
    text: str


def fences(page: Path) -> list[tuple[int, list[str], str]]:
    """(line, words of the info string, text) of the page's top-level fences."""
    tokens = MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8"))
    return [
        (token.map[0] + 1, token.info.split(), token.content) for token in tokens if token.type == "fence" and token.map
    ]


def snippets(page: Path) -> list[Snippet]:
    found: list[Snippet] = []
    for line, words, text in fences(page):
        if words and words[0] in KINDS:
            files = [word.removeprefix("file=") for word in words[1:] if word.startswith("file=")]
            codes = tuple(sorted(word for word in words[1:] if not word.startswith("file=")))
            found.append(Snippet(page.name, line, words[0], codes, files[0] if files else None, text))
    return found


def check(text: str, path: str, siblings: dict[str, str], catalog: CatalogView) -> tuple[str, ...]:
    """The codes that parse and resolve give for a document at `path`, each once, sorted. `siblings`: path to text."""
    documents: list[ProjectDocument] = []
    for name, content in {**siblings, path: text}.items():
        parsed = parse(content.encode(), Path(name).stem).artifact
        if parsed is not None:
            sections = (parsed.outside, *parsed.phases)
            calls = tuple(call.target for section in sections for call in section.calls)
            documents.append(ProjectDocument(name, parsed.name, calls))
    outcome = parse(text.encode(), Path(path).stem)
    findings = outcome.findings
    if outcome.artifact is not None:
        findings += resolve(outcome.artifact, catalog, Project(documents), path).findings
    return tuple(sorted({CODES[finding.name].code for finding in findings}))
