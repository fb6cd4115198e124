"""The registry of diagnostics (O3). Codes and names are stable: they are a public contract."""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning"]


class Code(NamedTuple):
    code: str
    name: str
    severity: Severity


_TABLE: tuple[tuple[str, str, Severity], ...] = (
    ("AOP101", "fence-unclosed", "error"),
    ("AOP102", "document-unreadable", "error"),
    ("AOP103", "document-too-large", "error"),
    ("AOP104", "phase-number-duplicate", "error"),
    ("AOP105", "phase-number-order", "warning"),
    ("AOP106", "declaration-in-code", "warning"),
    ("AOP107", "declaration-lookalike", "warning"),
    ("AOP108", "declaration-unclosed", "error"),
    ("AOP201", "tool-unreadable", "error"),
    ("AOP202", "tool-unknown", "error"),
    ("AOP203", "category-unknown", "error"),
    ("AOP204", "category-not-supported", "error"),
    ("AOP205", "none-with-tools", "error"),
    ("AOP206", "option-unreadable", "error"),
    ("AOP207", "tool-mentioned-undeclared", "warning"),
    ("AOP208", "declaration-outside-phase", "warning"),
    ("AOP301", "handover-unreadable", "error"),
    ("AOP302", "handover-tool-unreadable", "error"),
    ("AOP303", "handover-not-mcp", "error"),
    ("AOP304", "handover-several-tools", "error"),
    ("AOP305", "handover-mixed-read-only", "error"),
    ("AOP306", "handover-ambiguous-operation", "error"),
    ("AOP307", "handover-no-receiver", "error"),
    ("AOP308", "handover-argument-missing", "error"),
    ("AOP309", "placeholder-empty", "error"),
    ("AOP310", "placeholder-duplicate", "error"),
    ("AOP311", "placeholder-missing", "error"),
    ("AOP312", "placeholder-overlapped", "error"),
    ("AOP313", "handover-fence-blank", "error"),
    ("AOP314", "handover-stacked", "error"),
    ("AOP315", "handover-outside-phase", "error"),
    ("AOP316", "handover-in-call-phase", "error"),
    ("AOP317", "handover-detached", "warning"),
    ("AOP401", "fence-unreachable", "warning"),
    ("AOP402", "fence-lost", "error"),
    ("AOP403", "fence-stale", "warning"),
    ("AOP404", "tools-mismatch", "error"),
    ("AOP405", "artifact-stale", "warning"),
    ("AOP406", "tool-drifted", "warning"),
    ("AOP501", "call-unknown", "error"),
    ("AOP502", "call-cycle", "error"),
    ("AOP503", "call-with-tools", "warning"),
    ("AOP504", "call-several", "error"),
)

CODES: dict[str, Code] = {name: Code(code, name, severity) for code, name, severity in _TABLE}
"""By name."""

BY_CODE: dict[str, Code] = {entry.code: entry for entry in CODES.values()}
