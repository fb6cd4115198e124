"""A report for people."""

from __future__ import annotations

from catalog.errors import Language
from catalog.lint.pointer import to_text
from catalog.lint.reading import Input
from catalog.lint.report import Report, severity
from catalog.lint.shown import shown

_SEVERITIES = {"ja": {"error": "エラー", "warning": "警告"}, "en": {"error": "error", "warning": "warning"}}
_HELP = {"ja": "直し方", "en": "help"}


def render(report: Report, given: Input, name: str, lang: Language, *, strict: bool) -> str:
    """One paragraph a finding, and a line that sums up. `name`: the file's."""
    places = given.lines(finding.path for finding in report.findings)
    lines: list[str] = []
    for finding in report.findings:
        line = places.get(finding.path)
        where = shown(name, 500) + ("" if line is None else f":{line}")
        word = _SEVERITIES[lang][severity(finding, strict=strict)]
        lines.append(f"{where}: {word}[{finding.rule.id}] {finding.rule.name}: {finding.message(lang)}")
        lines.append(f"  --> {shown(to_text(finding.path), 300) or '/'}")
        lines.append(f"  = {_HELP[lang]}: {finding.help(lang)}")
        lines.append("")
    lines.append(_summary(report, lang))
    return "\n".join((*lines, ""))


def _summary(report: Report, lang: Language) -> str:
    structural = sum(finding.rule.level == "structural" for finding in report.findings)
    others = len(report.findings) - structural
    if lang == "ja":
        verdict = "正しい" if report.structurally_valid else "誤りがあります"
        strict = "合格" if report.strict_pass else "不合格"
        return f"構造: {verdict}（{structural} 件）。レビューの指摘: {others} 件。--strict: {strict}。"
    verdict = "valid" if report.structurally_valid else "faulty"
    strict = "passed" if report.strict_pass else "not passed"
    return f"structure: {verdict} ({_counted(structural)}); review: {_counted(others)}; --strict: {strict}."


def _counted(count: int) -> str:
    return f"{count} finding" if count == 1 else f"{count} findings"
