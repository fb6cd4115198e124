"""A diagnostic as the result has it (O2)."""

from __future__ import annotations

from typing import TypedDict

from pipeline.diagnostics.bind import Diagnostic


class DiagnosticDict(TypedDict):
    """O2's keys in O2's order, ready for `json.dumps`."""

    code: str
    name: str
    severity: str
    message: str
    help: str
    suggestions: list[str]
    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None
    phase: int | None


def diagnostic_dict(found: Diagnostic) -> DiagnosticDict:
    """The entry of `diagnostics` in a result, the same for `json`, `jsonl`, HTTP and MCP."""
    return {
        "code": found.code,
        "name": found.name,
        "severity": found.severity,
        "message": found.message,
        "help": found.help,
        "suggestions": list(found.suggestions),
        "line": found.line,
        "column": found.column,
        "end_line": found.end_line,
        "end_column": found.end_column,
        "phase": found.phase,
    }
