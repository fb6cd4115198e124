"""Diagnostics as a SARIF 2.1.0 log, for code scanning and editors.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import quote

from pipeline.diagnostics.bind import Diagnostic
from pipeline.diagnostics.codes import BY_CODE
from pipeline.diagnostics.fixes import Fix, fixes
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.pages import page, page_name, summary
from pipeline.places import Span

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | bool | None"

_KEPT: Final = 1024

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class Checked(NamedTuple):
    """A document's diagnostics. `path`: POSIX, absolute or relative to the working folder; `lines`: the document's."""

    path: str
    lines: Sequence[str]
    diagnostics: Sequence[Diagnostic]


def plain(text: str) -> str:
    """A plain text message: braces are no placeholders (3.11.5), and a user's brackets no link (3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def uri(path: str) -> str:
    """A relative reference, or a file URI for an absolute path; any file name that a file system allows."""
    encoded = quote(path.encode("utf-8", "surrogateescape"))
    return f"file://{encoded}" if path.startswith("/") else encoded


def _region(span: Span) -> Json:
    line, column, end_line, end_column = span
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _fix(fix: Fix, artifact: Json) -> Json:
    replacement: Json = {"deletedRegion": _region(fix.span), "insertedContent": {"text": fix.text}}
    return {
        "description": {"text": plain(fix.text)},
        "artifactChanges": [{"artifactLocation": artifact, "replacements": [replacement]}],
    }


class _Results:
    """A document's results as JSON. What is said of many places, of which there may be half a million, in the same
    words is put together once: only the region and the fixes are each result's own."""

    def __init__(self, document: Checked, rules: Mapping[str, int]) -> None:
        self._lines = document.lines
        self._artifact: Json = {"uri": uri(document.path)}
        self._rules = rules
        self._known: dict[tuple[object, ...], tuple[str, str]] = {}

    def __call__(self, found: Diagnostic) -> str:
        said = (found.code, found.severity, found.message, found.help, found.suggestions, found.phase)
        known = self._known.get(said)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[said] = self._around(found)
        before, behind = known
        line, column, end_line, end_column = found.line, found.column, found.end_line, found.end_column
        region = ""
        if line is not None and column is not None and end_line is not None and end_column is not None:
            # As _region, by hand: it is asked for half a million times.
            start = f'"startLine": {line}, "startColumn": {column}'
            region = f', "region": {{{start}, "endLine": {end_line}, "endColumn": {end_column}}}'
        proposed = fixes(found, self._lines) if found.suggestions else ()
        repairs = f', "fixes": {_dumps([_fix(fix, self._artifact) for fix in proposed])}' if proposed else ""
        return f"{before}{region}{behind}{repairs}}}"

    def _around(self, found: Diagnostic) -> tuple[str, str]:
        """What stands before the region, and what behind it."""
        head: dict[str, Json] = {
            "ruleId": found.code,
            "ruleIndex": self._rules[found.code],
            "level": found.severity,
            "message": {"text": plain(f"{found.message}\n{found.help}")},
        }
        properties = _dumps({"phase": found.phase, "suggestions": list(found.suggestions)})
        place = f'{{"physicalLocation": {{"artifactLocation": {_dumps(self._artifact)}'
        return f'{_dumps(head)[:-1]}, "locations": [{place}', f'}}}}], "properties": {properties}'


def _rule(code: str, lang: Lang, help_base: str | None) -> Json:
    entry = BY_CODE[code]
    text = page(entry, lang)
    rule: dict[str, Json] = {
        "id": code,
        "name": entry.name,
        "shortDescription": {"text": plain(summary(text))},
        "help": {"text": plain(text), "markdown": text.replace("{", "{{").replace("}", "}}")},
        "defaultConfiguration": {"level": entry.severity},
    }
    if help_base is not None:
        rule["helpUri"] = f"{help_base.rstrip('/')}/{page_name(entry, lang)}"
    return rule


def sarif_pieces(
    documents: Sequence[Checked], *, lang: Lang, version: str, help_base: str | None = None
) -> Iterator[str]:
    """The log as JSON, with a line end behind it, in pieces: it may be larger than memory has room for.

    `version` is the compiler's; `help_base` the address under which `docs/codes` is published: with it the rules have
    a `helpUri`, without it only the page itself.
    """
    used = sorted({found.code for document in documents for found in document.diagnostics})
    index = {code: number for number, code in enumerate(used)}
    rules: list[Json] = [_rule(code, lang, help_base) for code in used]
    run: Json = {
        "tool": {"driver": {"name": "aop", "version": version, "language": lang, "rules": rules}},
        "language": lang,
        "columnKind": "unicodeCodePoints",
    }
    schema = json.dumps(_SCHEMA)
    yield f'{{"$schema": {schema}, "version": "2.1.0", "runs": [{_dumps(run)[:-1]}, "results": ['
    separator = ""
    for document in documents:
        written = _Results(document, index)
        for found in document.diagnostics:
            yield f"{separator}{written(found)}"
            separator = ", "
    yield "]}]}\n"


_dumps = json.JSONEncoder(ensure_ascii=False).encode


def render_sarif(documents: Iterable[Checked], *, lang: Lang, version: str, help_base: str | None = None) -> str:
    """All of `sarif_pieces`."""
    return "".join(sarif_pieces(list(documents), lang=lang, version=version, help_base=help_base))
