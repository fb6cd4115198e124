"""A value as JSON on standard output, in the form that commands for one document print it."""

from __future__ import annotations

import json

from cli import streams


def print_json(value: object) -> None:
    """Indented, Japanese as it is, with a line end. Raises OutputClosed, OutputFailed."""
    streams.emit(f"{json.dumps(value, ensure_ascii=False, indent=2)}\n")
