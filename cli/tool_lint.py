"""What the lint says of an imported server's tools."""

from __future__ import annotations

from typing import NamedTuple

from catalog.lint.lint import lint
from catalog.lint.report import ReportDict
from catalog.nodes import Json
from cli.messages import say
from pipeline.diagnostics.lang import Lang

_SHOWN = 10
"""Findings that are shown; the file itself can be linted."""


class Linted(NamedTuple):
    """`report`: as `aop catalog lint --format json` gives it. `lines`: what to show of it."""

    report: ReportDict
    lines: tuple[str, ...]


def lint_snapshot(value: Json, file: str, lang: Lang) -> Linted:
    """`value`: the catalog file that lies at `file`."""
    report = lint(value).as_dict(lang, strict=False)
    found = sorted(report["findings"], key=lambda finding: finding["severity"] != "error")
    errors = sum(finding["severity"] == "error" for finding in found)
    lines = [f"    {f['path']}: {f['severity']}[{f['rule']}] {f['message']}" for f in found[:_SHOWN]]
    if found:
        lines.insert(0, say("import.lint", lang, errors=errors, warnings=len(found) - errors))
    if len(found) > _SHOWN:
        lines.append(say("import.lint-more", lang, count=len(found) - _SHOWN, file=file))
    return Linted(report, tuple(lines))
