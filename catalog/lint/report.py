"""What a lint found, and what it amounts to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypedDict

from catalog.errors import Language
from catalog.lint.limits import MAX_FINDINGS, MAX_KEPT
from catalog.lint.pointer import Pointer, to_text
from catalog.lint.rule import Finding, Level, Rule, Text

Severity = Literal["error", "warning"]

CUT: Final = Rule(
    "TSL004",
    "findings-cut",
    "advice",
    Text(
        "指摘が多すぎるので、あと {count} 件は示しません。",
        "there are too many findings; {count} more are not shown.",
    ),
    Text("示したものから直してください。", "Begin with those that are shown."),
)

RULES: Final = (CUT,)


class FindingDict(TypedDict):
    rule: str
    severity: Severity
    path: str
    message: str
    help: str


class ReportDict(TypedDict):
    """The result on the command line. `path` is a JSON pointer into the input."""

    structurally_valid: bool
    strict_pass: bool
    findings: list[FindingDict]


@dataclass(frozen=True, slots=True)
class Report:
    """`findings`: the first MAX_FINDINGS, in the order of the input's tools, then of rules."""

    structurally_valid: bool
    strict_pass: bool
    findings: tuple[Finding, ...]

    def passes(self, *, strict: bool) -> bool:
        return self.strict_pass if strict else self.structurally_valid

    def as_dict(self, lang: Language, *, strict: bool) -> ReportDict:
        return {
            "structurally_valid": self.structurally_valid,
            "strict_pass": self.strict_pass,
            "findings": [
                {
                    "rule": finding.rule.id,
                    "severity": severity(finding, strict=strict),
                    "path": to_text(finding.path),
                    "message": finding.message(lang),
                    "help": finding.help(lang),
                }
                for finding in self.findings
            ],
        }


def failing(*, strict: bool) -> tuple[Level, ...]:
    """The levels of rules that must not be broken."""
    return ("structural", "strict") if strict else ("structural",)


def severity(finding: Finding, *, strict: bool) -> Severity:
    return "error" if finding.rule.level in failing(strict=strict) else "warning"


class Collected:
    """Findings as they come. All are counted, the first MAX_KEPT kept.

    `order`: of the tools, by where they stand.
    """

    def __init__(self) -> None:
        self.order: dict[Pointer, int] = {}
        self._kept: list[Finding] = []
        self._count = 0
        self._broken: set[Level] = set()

    def add(self, findings: Iterable[Finding]) -> None:
        for finding in findings:
            self._count += 1
            self._broken.add(finding.rule.level)
            if len(self._kept) < MAX_KEPT:
                self._kept.append(finding)

    def report(self) -> Report:
        """In the order of the tools, then of rules; what is about no tool comes first."""
        self._kept.sort(key=lambda finding: (self._place(finding.path), finding.rule.id))
        shown = tuple(self._kept[:MAX_FINDINGS])
        if self._count > len(shown):
            shown += (Finding(CUT, (), {"count": self._count - len(shown)}),)
        return Report(
            structurally_valid=self._broken.isdisjoint(failing(strict=False)),
            strict_pass=self._broken.isdisjoint(failing(strict=True)),
            findings=shown,
        )

    def _place(self, path: Pointer) -> int:
        ends = range(len(path), -1, -1)
        return next((self.order[path[:end]] for end in ends if path[:end] in self.order), -1)
