"""`aop catalog lint` from bytes to text and exit status: what the command line and `python -m catalog.lint` share."""

from __future__ import annotations

import json
from importlib.metadata import version
from typing import Final, Literal, NamedTuple

from catalog.errors import Language
from catalog.lint import sarif, text
from catalog.lint.lint import lint_bytes

Format = Literal["text", "json", "sarif"]

FORMATS: Final[tuple[Format, ...]] = ("text", "json", "sarif")
OK: Final = 0
FOUND: Final = 1


class Outcome(NamedTuple):
    """`output`: for standard output, with a line end behind it."""

    output: str
    status: int


def run(content: bytes, name: str, *, strict: bool, form: Format, lang: Language) -> Outcome:
    """`name`: the file's path, or `-`. Raises CatalogError for what cannot be read (exit status 2)."""
    report, given = lint_bytes(content, name)
    match form:
        case "json":
            output = f"{json.dumps(report.as_dict(lang, strict=strict), ensure_ascii=False, indent=2)}\n"
        case "sarif":
            output = sarif.render(report, given, name, lang, strict=strict, version=version("aop"))
        case "text":
            output = text.render(report, given, name, lang, strict=strict)
    return Outcome(output, OK if report.passes(strict=strict) else FOUND)
