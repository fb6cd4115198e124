"""`aop push FILE --to URL`: a document saved on a server, and what became of it, told as `aop compile` tells it."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Sequence
from typing import Any, Final, Literal, cast
from urllib.parse import quote

from cli import streams
from cli.analysis import single
from cli.arguments import Color
from cli.discovery import STDIN
from cli.exits import FAILED, OK, TROUBLE
from cli.json_output import print_json
from cli.messages import say
from cli.reading import LARGEST, read_file, read_stdin
from cli.remote import Json, Remote
from cli.trouble import Trouble
from pipeline.diagnostics.bind import Diagnostic
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.text import text_pieces
from pipeline.diagnostics.visible import visible
from pipeline.document.source import Source, read_source
from workers.identifiers import InvalidDocumentId, check_document_id

_ENDED: Final = frozenset({"succeeded", "failed", "superseded", "dead"})
_STAGES: Final = frozenset({"claimed", "begun", "handed-back", "attempt-failed", "lease-expired"})


def run(
    *,
    file: str,
    to: str,
    identity: str | None = None,
    token: str | None = None,
    form: Literal["text", "json"] = "text",
    color: Color = "auto",
    strict: bool = False,
    lang: Lang = "ja",
) -> int:
    """Save `file` (`-`: standard input) as the document `identity`, wait until its job has ended, and tell of it.

    `identity` None: the path as it is given. `token` None: from `AOP_TOKEN`. The exit status is that of `aop compile`:
    1 where the document has errors, with `strict` also where it has warnings. Raises Trouble, OutputFault, OSError.
    """
    named = single(file)
    document = _identity(named.path, identity, lang)
    data = read_stdin() if named.path == STDIN else read_file(named.file)
    if len(data) > LARGEST:
        raise Trouble("push.too-large", path=file)
    path = f"/v1/documents/{quote(document, safe='/')}"
    with Remote(to, lang, token=token) as remote:
        headers = {"content-type": "text/markdown", "idempotency-key": secrets.token_hex(16)}
        saved = remote.json("PUT", path, content=data, headers=headers)
        job = _word(saved, "job_id")
        _follow(remote, job, lang)
        ended = remote.json("GET", f"/v1/jobs/{quote(job, safe='')}")
    return _told(ended, named.path, data, form, color, strict, lang)


def _identity(path: str, identity: str | None, lang: Lang) -> str:
    """Raises Trouble."""
    name = path if identity is None else identity
    if identity is None and (path == STDIN or path.startswith(("/", "../"))):
        raise Trouble("push.no-id")
    try:
        return check_document_id(name)
    except InvalidDocumentId as fault:
        raise Trouble("push.id", detail=fault.text(lang)) from fault


def _follow(remote: Remote, job: str, lang: Lang) -> None:
    """Until it has ended; each stage is told where somebody looks."""
    looked_at = sys.stderr is not None and sys.stderr.isatty()
    for _, event in remote.events(f"/v1/jobs/{quote(job, safe='')}/events"):
        if looked_at and event.get("event") in _STAGES:
            streams.note(say("push.progress", lang, event=str(event["event"]), stage=str(event.get("detail", ""))))
        if event.get("event") in _ENDED:
            return


def _told(
    job: Json, path: str, data: bytes, form: Literal["text", "json"], color: Color, strict: bool, lang: Lang
) -> int:
    """Print the result; the exit status."""
    state, result = _word(job, "state"), job.get("result")
    if form == "json":
        print_json(job)
    elif isinstance(result, dict):
        diagnostics = [_diagnostic(found) for found in cast("list[Json]", result.get("diagnostics", []))]
        read = read_source(data, len(data))
        lines = read.lines if isinstance(read, Source) else []
        shown = streams.colored(sys.stdout, color)
        width = streams.width(sys.stdout)
        for piece in text_pieces(diagnostics, visible(path), lines, lang=lang, color=shown, width=width):
            streams.emit(piece)
        counts = _counts(diagnostics)
        key = "push.published" if state == "succeeded" else "push.failed"
        document, sequence = _word(job, "document_id"), str(job.get("sequence", ""))
        gap = "\n" if diagnostics else ""
        streams.emit(gap + say(key, lang, document=document, sequence=sequence, **counts) + "\n")
        if state == "succeeded":
            return FAILED if strict and counts["warnings"] else OK
    return _status(job, state, lang)


def _status(job: Json, state: str, lang: Lang) -> int:
    match state:
        case "succeeded":
            return OK
        case "failed":
            return FAILED
        case "superseded":
            streams.note(say("push.superseded", lang, sequence=str(job.get("superseded_by", ""))))
            return OK
        case _:
            streams.note(say("push.dead", lang, job=_word(job, "job_id"), cause=str(job.get("cause", ""))))
            return TROUBLE


def _counts(diagnostics: Sequence[Diagnostic]) -> dict[str, int]:
    errors = sum(found.severity == "error" for found in diagnostics)
    return {"errors": errors, "warnings": len(diagnostics) - errors}


def _diagnostic(found: dict[str, Any]) -> Diagnostic:
    values = [found.get(name) for name in Diagnostic._fields]
    return Diagnostic._make(values)._replace(suggestions=tuple(found.get("suggestions", ())))


def _word(answer: Json, name: str) -> str:
    """Raises Trouble where the answer lacks it."""
    value = answer.get(name)
    if not isinstance(value, str):
        raise Trouble("push.strange-answer", name=name)
    return value
