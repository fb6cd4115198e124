"""Names of documents that a token must not know of, kept out of what it reads.

Only what is said of calls names other documents: candidates, several of one name, the path of a cycle. There every
name is masked that is not known to be readable, so that a name which is written in an unforeseen way is masked as well.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Final, cast

from pipeline.diagnostics.json import DiagnosticDict
from pipeline.diagnostics.lang import Lang
from pipeline.project import stem
from pipeline.result import ResultDict
from workers.ledger.records import Project
from workers.tokens import Token

MASK: Final = "***"
_NAMES_OTHERS: Final = frozenset({"call-unknown", "call-cycle"})
_QUOTES: Final[dict[Lang, tuple[str, str]]] = {"ja": ("「", "」"), "en": ("`", "`")}
_ARROW: Final = " → "
_FORMS: Final = frozenset({"(呼び出す AOP: 名前)", "(呼び出す AOP: NAME)"})
"""What messages quote as the form to write."""


def masked_result(
    result: ResultDict, token: Token, document: str, project: Callable[[], Project], lang: Lang
) -> ResultDict:
    """`result` of `document`, its diagnostics in `lang`. `project` is asked only where something may be masked."""
    diagnostics = masked_diagnostics(result["diagnostics"], token, document, project, lang)
    return cast("ResultDict", {**result, "diagnostics": diagnostics})


def masked_diagnostics(
    diagnostics: Sequence[DiagnosticDict], token: Token, document: str, project: Callable[[], Project], lang: Lang
) -> list[DiagnosticDict]:
    if not token.limited or not any(found["name"] in _NAMES_OTHERS for found in diagnostics):
        return list(diagnostics)
    rows = project()
    known = readable_names(rows, token, document)
    marks = _QUOTES[lang]
    # Marks within a name would make its parts look like what stands between names.
    confusing = any(mark in row.name for row in rows.rows.values() for mark in marks)
    return [
        _masked(found, known, lang, confusing) if found["name"] in _NAMES_OTHERS else found for found in diagnostics
    ]


def readable_names(project: Project, token: Token, document: str) -> frozenset[str]:
    """All ways in which a document that the token may read can be called, and what `document` itself calls."""
    names: set[str] = {stem(document)}
    for identity, row in project.rows.items():
        if token.may_touch(identity):
            names |= {identity, row.name, posixpath.basename(identity), stem(identity)}
            names.add(posixpath.relpath(identity, posixpath.dirname(document) or "."))
        if identity == document:
            names |= set(row.calls)
    return frozenset(names)


def _masked(found: DiagnosticDict, known: frozenset[str], lang: Lang, confusing: bool) -> DiagnosticDict:
    masked = cast("DiagnosticDict", dict(found))
    masked["suggestions"] = [name if name in known else MASK for name in found["suggestions"]]
    opening, closing = _QUOTES[lang]
    if found["name"] == "call-cycle":
        masked["message"] = _masked_path(found["message"], known, lang)
        return masked
    quoted = re.compile(f"{opening}([^{opening}{closing}]*){closing}")

    def replaced(match: re.Match[str]) -> str:
        return match[0] if match[1] in known or match[1] in _FORMS else f"{opening}{MASK}{closing}"

    for key in ("message", "help"):
        masked[key] = MASK if confusing else quoted.sub(replaced, found[key])
    return masked


def _masked_path(message: str, known: frozenset[str], lang: Lang) -> str:
    """The steps of a cycle; the sentence before it ends in a colon, and has one only."""
    before, colon, path = message.partition(": ")
    if not colon:
        return MASK
    end = "。" if lang == "ja" and path.endswith("。") else ""
    steps = path.removesuffix(end).split(_ARROW) if end else path.split(_ARROW)
    return f"{before}: {_ARROW.join(step if step in known or step == '…' else MASK for step in steps)}{end}"
