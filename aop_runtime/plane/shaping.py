"""From what a handler returned to what a model reads."""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import CallError, Envelope, Output, Truncation

MOST_OWN: Final = 100_000
"""Code points: what a handler has shortened itself is left as it is up to here."""

MOST_LEVELS: Final = 200
"""Of a structured result: with a little around it, a record of it can still be written and read again."""

MOST_MESSAGE: Final = 4_000
MOST_DETAILS: Final = 20_000
MOST_WARNINGS: Final = 20

_TAIL: Final = 0.25

_log = logging.getLogger(__name__)


def checked(output: object) -> Output:
    """What a handler returned, if it is an output of JSON. Raises TypeError, ValueError, RecursionError."""
    if not isinstance(output, Output):
        raise TypeError(f"a handler returned {type(output).__name__}, no Output")
    if not isinstance(output.content, str) or not all(isinstance(warning, str) for warning in output.warnings):
        raise TypeError("the content and the warnings of an output are texts")
    if not isinstance(output.truncation, Truncation | None):
        raise TypeError("the truncation of an output is a Truncation, or None")
    if output.structured is None:
        return output
    try:
        json.dumps(output.structured, allow_nan=False)
    except ValueError:
        output = replace(
            output,
            structured=_finite(output.structured),
            warnings=(*output.warnings, "numbers that JSON does not have are given as texts"),
        )
    if _levels(output.structured) <= MOST_LEVELS:
        return output
    return replace(
        output,
        content=output.content or json.dumps(output.structured, ensure_ascii=False),
        structured=None,
        warnings=(*output.warnings, f"nested deeper than {MOST_LEVELS} levels: given as text only"),
    )


def _levels(value: Json) -> int:
    """Of nesting, without recursion."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        current, level = waiting.pop()
        deepest = max(deepest, level)
        inner = current.values() if isinstance(current, dict) else current if isinstance(current, list | tuple) else ()
        waiting += [(entry, level + 1) for entry in inner]
    return deepest


def _finite(value: Json) -> Json:
    """Raises RecursionError where it goes round in a circle."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    return value


def enveloped(output: Output, duration_s: float) -> Envelope:
    return Envelope(
        content=output.content,
        structured=output.structured,
        warnings=tuple(output.warnings),
        truncation=output.truncation,
        duration_s=duration_s,
    )


def shaped(envelope: Envelope, limit: int, folder: Path, call: str) -> Envelope:
    """What is longer than `limit` code points goes to `outputs/CALL.txt` in the run's folder; head and tail stay.

    A content that says that it was shortened already is left as it is. Everything else has its own bound.
    """
    content, structured, truncation = envelope.content, envelope.structured, envelope.truncation
    warnings = [_shortened(warning, MOST_MESSAGE) for warning in envelope.warnings[:MOST_WARNINGS]]
    own = truncation is not None and len(content) <= MOST_OWN
    written = None if structured is None else json.dumps(structured, ensure_ascii=False)
    if written is not None and len(written) > limit:
        structured = None
        if own:
            warnings.append("the structured result was too large, and is left out")
        elif len(content) < len(written):
            # A part of a JSON value is none: as text it can be cut, and read on.
            content = written
    error = None if envelope.error is None else _bounded(envelope.error)
    if len(content) > limit and not own:
        try:
            content, truncation = _cut(content, limit, folder, call)
        except OSError as fault:
            _log.exception("the output of %s cannot be kept", call)
            content, truncation, structured = "", None, None
            message = f"the call was made, but its result is too long to show and cannot be kept ({fault.strerror})"
            error = CallError(code="internal", message=message, details={"done": True})
    return replace(
        envelope,
        content=content,
        structured=structured,
        warnings=tuple(warnings),
        truncation=truncation,
        error=error,
    )


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _bounded(error: CallError) -> CallError:
    details: Mapping[str, Json] = error.details
    try:
        written = json.dumps(dict(details), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        details = {"left_out": "the details were no JSON"}
    else:
        if len(written) > MOST_DETAILS:
            details = {"left_out": "the details were too long", "head": written[: MOST_DETAILS // 2]}
    return replace(error, message=_shortened(error.message, MOST_MESSAGE), details=details)


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
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    # Half a character cannot be sent; the halves of one that was torn apart belong together.
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
