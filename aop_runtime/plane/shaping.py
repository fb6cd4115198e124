"""From what a handler returned to what a model reads."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import Envelope, Output, Truncation

_TAIL: Final = 0.25


def shaped(output: Output, limit: int, folder: Path, call: str, duration_s: float) -> Envelope:
    """What is longer than `limit` code points goes to `outputs/CALL.txt` in the run's folder; head and tail stay.

    An output that says that it was shortened already is left as it is. Raises OSError where the file cannot be written.
    """
    content, structured, truncation = output.content, output.structured, output.truncation
    if truncation is None:
        written = None if structured is None else json.dumps(structured, ensure_ascii=False)
        if written is not None and len(written) > limit:
            # A part of a JSON value is none: as text it can be cut, and read on.
            content, structured = content if len(content) >= len(written) else written, None
        if len(content) > limit:
            content, truncation = _cut(content, limit, folder, call)
    return Envelope(
        content=content,
        structured=structured,
        warnings=output.warnings,
        truncation=truncation,
        duration_s=duration_s,
    )


def _cut(content: str, limit: int, folder: Path, call: str) -> tuple[str, Truncation]:
    tail = int(limit * _TAIL)
    head = limit - tail
    path = Path("outputs") / f"{_file_name(call)}.txt"
    target = folder / path
    target.parent.mkdir(mode=0o700, exist_ok=True)
    # A file that is seen is whole, also after a crash.
    partial = target.with_suffix(".part")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content.encode("utf-8", "surrogatepass"))
    partial.replace(target)
    truncation = Truncation(path=path.as_posix(), total=len(content), head=head, tail=tail)
    shown = f"{content[:head]}\n[… {len(content) - limit} characters left out …]\n{content[len(content) - tail :]}"
    return shown, truncation


def _file_name(call: str) -> str:
    return "".join([sign if sign.isascii() and (sign.isalnum() or sign in "-_.") else "_" for sign in call]).lstrip(".")


def for_model(envelope: Envelope, call: str, tool: str) -> str:
    """One JSON object. Whatever stands in the content is a string in it, and cannot pose as another part."""
    shown: dict[str, Json] = {"ok": envelope.ok}
    if envelope.error is not None:
        error: dict[str, Json] = {"code": envelope.error.code, "message": envelope.error.message}
        if envelope.error.details:
            error["details"] = dict(envelope.error.details)
        if envelope.error.unknown_outcome:
            error["unknown_outcome"] = True
        shown["error"] = error
    if envelope.content or envelope.ok:
        shown["untrusted_data_from"] = tool
        shown["content"] = envelope.content
    if envelope.structured is not None:
        shown["structured"] = envelope.structured
    if envelope.warnings:
        shown["warnings"] = list(envelope.warnings)
    if envelope.truncation is not None:
        cut = envelope.truncation
        shown["truncated"] = {
            "total_characters": cut.total,
            "shown_head": cut.head,
            "shown_tail": cut.tail,
            "read_on": f"call read_result with result {call!r} and an offset",
        }
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
