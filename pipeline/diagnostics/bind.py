"""Findings bound to the lines of one version of a document: the diagnostics of O2, in the order of O3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from pipeline.diagnostics.codes import CODES, Severity
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.lang import Lang
from pipeline.garbage import uncollected
from pipeline.places import At, Positions, Span


class Diagnostic(NamedTuple):
    """O2's keys in O2's order. Lines and columns are 1-based, columns count code points, `end_column` is exclusive;
    all four are None where there is no position."""

    code: str
    name: str
    severity: Severity
    message: str
    help: str
    suggestions: tuple[str, ...]
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    phase: int | None


_NOWHERE: Final = (None, None, None, None)


def place(at: At, positions: Positions) -> Span:
    """Where `at` is: the whole anchor, or a part of its first line."""
    anchor, start, end = at
    whole = positions[anchor]
    if end is None and not start:
        return whole
    line, column, end_line, end_column = whole
    if end is None:
        return Span(line, column + start, end_line, end_column)
    return Span(line, column + start, line, column + end)


def bind(findings: Iterable[Finding], positions: Positions, lang: Lang) -> list[Diagnostic]:
    """Sorted by line and column (those without a position first), then by code, then as detected (O3).

    A finding's own severity goes before the registry's. Raises `wording.NoMessage` for a finding outside the registry.
    """
    return list(binding(list(findings), positions, lang))


def binding(findings: Sequence[Finding], positions: Positions, lang: Lang) -> Iterator[Diagnostic]:
    """The same, each when it is asked for: the words of half a million take a gigabyte."""
    if not findings:
        return
    from pipeline.diagnostics.wording import Wording  # noqa: PLC0415 - most documents need no words: 1 ms of start-up

    words = Wording(lang)
    with uncollected():
        spans = [None if finding.at is None else place(finding.at, positions) for finding in findings]
        keys = [
            (0, 0, CODES[finding.name].code) if span is None else (span.line, span.column, CODES[finding.name].code)
            for finding, span in zip(findings, spans, strict=True)
        ]
        order = sorted(range(len(findings)), key=keys.__getitem__)
    del keys
    for index in order:
        finding, span = findings[index], spans[index]
        code, name, severity = CODES[finding.name]
        message, advice = words(finding, None if span is None else span.line)
        line, column, end_line, end_column = _NOWHERE if span is None else span
        yield Diagnostic(
            code,
            name,
            finding.severity or severity,
            message,
            advice,
            finding.suggestions,
            line,
            column,
            end_line,
            end_column,
            finding.phase,
        )
