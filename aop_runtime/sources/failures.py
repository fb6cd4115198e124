"""Failures of connectors, in the words and codes of the plane."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import ErrorCode, ToolFailure
from aop_runtime.plane.spec import Effect

_RATE: Final = re.compile(r"\b429\b|too many requests|rate.?limit", re.I)
_AFTER: Final = re.compile(r"(?:retry|try again|wait)\D{0,20}(\d{1,6})\s*(?:s\b|sec|秒|$|[.,)])", re.I)
_LONGEST_WAIT_S: Final = 86_400


def lost(address: str, why: str, effect: Effect, *, sent: bool) -> ToolFailure:
    """No answer came. A write that may have arrived may have been done."""
    unknown = sent and effect == "write"
    message = f"{address}: no answer: {why}"
    if unknown:
        message += "; whether it was carried out is not known"
    return ToolFailure("dependency_failure", message, unknown_outcome=unknown)


def conflict(address: str, why: str) -> ToolFailure:
    return ToolFailure("conflict", f"{address}: {why}; nothing was sent. Compile the procedure again (aop compile)")


def answered(
    address: str, code: ErrorCode, said: str, details: Mapping[str, Json], *, unknown_outcome: bool = False
) -> ToolFailure:
    """A failure that the other side reported. `said`: its own words, which are data and no instructions."""
    message = f"{address} failed" + (f"; it says: {said}" if said else "")
    return ToolFailure(code, message, details, unknown_outcome=unknown_outcome)


def of_status(status: int, effect: Effect) -> tuple[ErrorCode, bool]:
    """The code of an HTTP status from 300, and whether a write may have been carried out all the same."""
    write = effect == "write"
    if status in (401, 402, 403, 407, 451):
        return "denied", False
    if status in (409, 412, 423, 428):
        return "conflict", False
    if status == 429:
        return "rate_limited", False
    if status in (408, 425) or status >= 500:
        return "dependency_failure", write
    if status < 400:
        # 303 answers what was carried out; the others ask to send it elsewhere.
        return "dependency_failure", write and status in (301, 302, 303)
    return "invalid_input", False


def retry_after(header: str | None) -> dict[str, Json]:
    """`retry_after_s` of a Retry-After header: seconds, or a date."""
    if header is None:
        return {}
    value = header.strip()
    if value.isascii() and value.isdecimal():
        return {"retry_after_s": min(int(value[:9]), _LONGEST_WAIT_S)}
    try:
        when = parsedate_to_datetime(value[:64])
    except (ValueError, OverflowError):
        return {}
    seconds = (when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime.now(UTC)
    return {"retry_after_s": max(0, min(int(seconds.total_seconds()) + 1, _LONGEST_WAIT_S))}


def of_words(said: str) -> tuple[ErrorCode, dict[str, Json]]:
    """The code of a failure that is told in words only: tools of MCP have no codes."""
    if not _RATE.search(said):
        return "dependency_failure", {}
    found = _AFTER.search(said)
    return "rate_limited", {"retry_after_s": min(int(found[1]), _LONGEST_WAIT_S)} if found else {}
