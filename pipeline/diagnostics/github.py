"""Diagnostics as GitHub Actions workflow commands: annotations on the lines of a pull request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pipeline.diagnostics.bind import Diagnostic
from pipeline.diagnostics.visible import visible


def escape_data(text: str) -> str:
    """A command's message; nothing in it ends the line or is read as an escape."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """A command's property; neither does anything in it end the property."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def commands(diagnostics: Iterable[Diagnostic], path: str) -> Iterator[str]:
    """One workflow command, without a line end, for each diagnostic; `path` is relative to the repository's root."""
    shown = visible(path)  # a log is read on terminals, too, and no honest file is called by an escape sequence
    for found in diagnostics:
        properties = [("file", shown)]
        if found.line is not None:
            properties += [("line", str(found.line)), ("endLine", str(found.end_line))]
            if found.line == found.end_line:  # GitHub refuses columns on a range of several lines
                properties += [("col", str(found.column)), ("endColumn", str(found.end_column))]
        properties.append(("title", f"{found.code} {found.name}"))
        written = ",".join(f"{key}={escape_property(value)}" for key, value in properties)
        words = escape_data(f"{found.message}\n{found.help}")
        yield f"::{found.severity} {written}::{words}"


def render_github(diagnostics: Iterable[Diagnostic], path: str) -> str:
    """All commands, each ended by a line end; "" without diagnostics."""
    return "".join(f"{command}\n" for command in commands(diagnostics, path))
