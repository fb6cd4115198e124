"""A diagnostic as the result has it (O2)."""

from __future__ import annotations

from json.encoder import encode_basestring
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


def diagnostic_json(found: Diagnostic, margin: str | None = None) -> str:
    """`diagnostic_dict` as JSON: on one line without blanks, or indented by two, its end at `margin`.

    As `json.dumps` would write it, which takes many times as long and as much memory where there are very many.
    """
    colon = ":" if margin is None else ": "
    between = "," if margin is None else f",\n{margin}  "
    fields = (
        f'"code"{colon}{encode_basestring(found.code)}',
        f'"name"{colon}{encode_basestring(found.name)}',
        f'"severity"{colon}{encode_basestring(found.severity)}',
        f'"message"{colon}{encode_basestring(found.message)}',
        f'"help"{colon}{encode_basestring(found.help)}',
        f'"suggestions"{colon}{_array([*map(encode_basestring, found.suggestions)], margin)}',
        f'"line"{colon}{_number(found.line)}',
        f'"column"{colon}{_number(found.column)}',
        f'"end_line"{colon}{_number(found.end_line)}',
        f'"end_column"{colon}{_number(found.end_column)}',
        f'"phase"{colon}{_number(found.phase)}',
    )
    body = between.join(fields)
    return f"{{{body}}}" if margin is None else f"{{\n{margin}  {body}\n{margin}}}"


def _array(entries: list[str], margin: str | None) -> str:
    if margin is None or not entries:
        return f"[{','.join(entries)}]"
    inner = f"\n{margin}    "
    return f"[{inner}{f',{inner}'.join(entries)}\n{margin}  ]"


def _number(number: int | None) -> str:
    return "null" if number is None else str(number)
