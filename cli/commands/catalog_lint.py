"""`aop catalog lint FILE|-`: whether tools are well-formed, and what a review would find."""

from __future__ import annotations

from catalog.lint import command
from cli import streams
from cli.discovery import STDIN
from cli.reading import read_file, read_stdin
from pipeline.diagnostics.lang import Lang


def run(file: str, form: command.Format, lang: Lang, *, strict: bool) -> int:
    """Raises Trouble, CatalogError, OSError."""
    content = read_stdin() if file == STDIN else read_file(file)
    outcome = command.run(content, file, strict=strict, form=form, lang=lang)
    streams.emit(outcome.output)
    return outcome.status
