"""Reading golden files, and putting what a document resolves to into the few lines that they expect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from catalog.load import load_catalog
from pipeline.artifacts import Grant, Handover, ParsedDocument, ResolvedPhase
from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.places import Positions
from pipeline.project import Project, ProjectDocument
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

HERE = Path(__file__).parent
CONFORMANCE = HERE.parent / "conformance"
CATALOG = load_catalog([CONFORMANCE / "catalog.yaml"], CONFORMANCE / "mcp.json")

_FENCE = re.compile(r"(?P<ticks>`{5,})(?P<kind>\w+)(?: (?P<path>\S+))?\n")


@dataclass
class Case:
    """`title`: begins with the rule. `siblings`: texts by path. `expect`: the lines that `expected` stands in."""

    title: str
    document: str = ""
    expected: str = ""
    siblings: dict[str, str] = field(default_factory=dict)
    expect: slice = field(default_factory=lambda: slice(0, 0))


def read_lines(file: Path) -> list[str]:
    """With their ends. Only LF ends one: U+2028 and the like stand in documents."""
    return [line + "\n" for line in file.read_text(encoding="utf-8").removesuffix("\n").split("\n")]


def cases(lines: list[str]) -> Iterator[Case]:
    """The sections of a golden file: a level-2 heading; then, in fences of five backticks or more, `aop` (the
    document) or `escaped` (the same as the inside of a JSON string), any number of `sibling PATH`, and `expect`.
    """
    case: Case | None = None
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.startswith("## "):
            if case is not None:
                yield case
            case = Case(line[3:].strip())
        elif case is not None and (match := _FENCE.fullmatch(line)):
            end = lines.index(match["ticks"] + "\n", position)
            text = "".join(lines[position:end])
            if match["kind"] == "aop":
                case.document = text
            elif match["kind"] == "escaped":
                case.document = json.loads(f'"{text.strip()}"')
            elif match["kind"] == "sibling":
                case.siblings[match["path"]] = text
            else:
                case.expected, case.expect = text, slice(position, end)
            position = end + 1
    if case is not None:
        yield case


def summary(case: Case) -> str:
    """One line a diagnostic (its extent, code, name and suggestions), then a few a phase."""
    texts = {"document.md": case.document, **case.siblings}
    parsed = {path: parse(text.encode(), PurePosixPath(path).stem) for path, text in texts.items()}
    project = Project(
        ProjectDocument(path, o.artifact.name, tuple(c.target for s in o.artifact.phases for c in s.calls))
        for path, o in parsed.items()
        if o.artifact
    )
    outcome = parsed["document.md"]
    findings = list(outcome.findings)
    lines: list[str] = []
    if outcome.artifact is not None:
        resolved = resolve(outcome.artifact, CATALOG, project, "document.md")
        findings += resolved.findings
        for phase in resolved.artifact.phases:
            lines += _phase(phase, outcome.artifact, outcome.positions)
    diagnostics = [_diagnostic(entry) for entry in bind(findings, outcome.positions, "en")]
    return "".join(line + "\n" for line in [*diagnostics, *lines])


def _diagnostic(entry: Diagnostic) -> str:
    end = f"{entry.end_column}" if entry.end_line == entry.line else f"{entry.end_line}:{entry.end_column}"
    at = "-" if entry.line is None else f"{entry.line}:{entry.column}-{end}"
    suggestions = f" → {' | '.join(entry.suggestions)}" if entry.suggestions else ""
    where = "" if entry.phase is None else f" (phase {entry.phase})"
    return f"{at} {entry.code} {entry.name}{where}{suggestions}"


def _phase(phase: ResolvedPhase, document: ParsedDocument, positions: Positions) -> Iterator[str]:
    number = "document" if phase.number is None else f"phase {phase.number}"
    yield f"{number} 「{phase.title}」" + (f" calls {phase.calls or '?'}" if phase.kind == "call" else "")
    for grant in phase.tools:
        yield "  " + _grant(grant)
    for index in phase.fences:
        fence = document.fences[index]
        text = json.dumps(fence.text, ensure_ascii=False)
        yield f"  fence {positions[fence.anchor].line} {fence.language or '-'} {text}"
    for handover in phase.handovers:
        yield f"  handover {positions[handover.anchor].line} {_handover(handover)}"


def _grant(grant: Grant) -> str:
    """`*` marks what a generator may narrow (T7)."""
    words = [grant.tool, *grant.categories, *(["read-only"] if grant.read_only else [])]
    words += [f"{key}={value}" for key, value in grant.options]
    return f"tool {' '.join(words)}: {_operations(grant.operations)}{' *' if grant.narrowable else ''}"


def _handover(handover: Handover) -> str:
    target = handover.argument or "typescript"
    words = [handover.tool, f"{target}:", _operations(handover.operations)]
    if handover.argument:
        words.append(handover.fixed_arguments)
    if handover.placeholders:
        words.append(json.dumps(handover.placeholders, ensure_ascii=False))
    return " ".join(words)


def _operations(operations: tuple[str, ...] | None) -> str:
    return "?" if operations is None else " ".join(operations) or "-"
