"""Values as JSON on standard output, in the form that every command prints it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from cli import streams

if TYPE_CHECKING:
    from pipeline.diagnostics.bind import Diagnostic
    from pipeline.result import PhaseDict, ResultDict


def print_json(value: object) -> None:
    """Indented, Japanese as it is, with a line end. Raises OutputClosed, OutputFailed."""
    streams.emit(f"{json.dumps(value, ensure_ascii=False, indent=2)}\n")


def result_pieces(
    result: ResultDict, diagnostics: Iterable[Diagnostic], phases: Iterable[PhaseDict], *, indented: bool
) -> Iterator[str]:
    """The result with these diagnostics and phases in place of its own, in pieces: there may be half a million."""
    from pipeline.diagnostics.json import diagnostic_json  # noqa: PLC0415 - for two of five formats

    line, colon = ("\n", ": ") if indented else ("", ":")
    margin = "  " if indented else ""
    opening = f"{{{line}"
    for key, value in result.items():
        yield f"{opening}{margin}{json.dumps(key)}{colon}"
        opening = f",{line}"
        if key == "diagnostics":
            yield from _array((diagnostic_json(found, margin * 2 if indented else None) for found in diagnostics), line)
        elif key == "phases":
            yield from _array((_dumped(phase, margin * 2, indented=indented) for phase in phases), line)
        else:
            yield _dumped(value, margin, indented=indented)
    yield f"{line}}}"


def _dumped(value: object, margin: str, *, indented: bool) -> str:
    if indented:
        return json.dumps(value, ensure_ascii=False, indent=2).replace("\n", f"\n{margin}")
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _array(entries: Iterator[str], line: str) -> Iterator[str]:
    margin = "    " if line else ""
    opening = f"[{line}{margin}"
    empty = True
    for entry in entries:
        yield f"{opening}{entry}"
        opening, empty = f",{line}{margin}", False
    yield "[]" if empty else f"{line}{margin[:-2]}]"
