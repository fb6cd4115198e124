"""From what an entrance has read to an accepted save, and its answer."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue
from starlette.requests import Request
from starlette.responses import JSONResponse

from server.errors import ApiError
from server.service import Backend, Service
from workers.ledger.records import Accepted, Action
from workers.logs import get_logger
from workers.records import Reference
from workers.tracing import TRACEPARENT

ACCEPTED: Final = 202
_RANK_DIGITS: Final = 40

_logger = get_logger("server")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """A save as an entrance has read it. `source`: whose revisions these are; `rank`: by which they sort, "" where they
    have no order. `key`: of the request, so that the same one again makes no second job; "" none."""

    document: str
    action: Action = "compile"
    data: bytes | None = None
    reference: Reference | None = None
    source: str
    revision: str = ""
    rank: str = ""
    key: str = ""


def accept(backend: Backend, service: Service, wanted: Wanted, trace: str) -> dict[str, JsonValue]:
    """Durable when this returns: what the client is told. The same request again gives the same.

    Raises TooLarge, StoreError, RedisError, LedgerLost.
    """
    accepted = backend.intake.accept(
        wanted.document,
        data=wanted.data,
        reference=wanted.reference,
        source=wanted.source,
        revision=wanted.revision,
        rank=wanted.rank,
        action=wanted.action,
        idempotency_key=wanted.key,
        trace=trace,
    )
    _logger.info("save", answer=accepted.answer, job=accepted.job, document=wanted.document, source=wanted.source)
    return told(service, wanted.document, accepted.job, accepted.sequence, _status(backend, wanted, accepted))


def _status(backend: Backend, wanted: Wanted, accepted: Accepted) -> str:
    if accepted.answer != "repeated":
        return accepted.answer
    # What was answered the first time: a save that arrived late ended in the moment in which it was accepted.
    job = backend.ledger.job(accepted.job)
    if job is None:
        # Redis was lost since, or the job ended long ago: the store knows whether the save came to nothing.
        outcome = backend.archive.outcome(wanted.document, accepted.sequence)
        return "superseded" if outcome is not None and outcome.status == "superseded" else "accepted"
    return "superseded" if job.state == "superseded" and job.ended_ms == job.created_ms else "accepted"


def compile_again(backend: Backend, service: Service, document: str, trace: str, key: str = "") -> dict[str, JsonValue]:
    """The newest save once more; where a job waits or runs, that one. The same `key` again gives the same job.

    Raises ApiError 404, RedisError, LedgerLost."""
    again = backend.ledger.again(document, trace=trace, idempotency_key=key)
    if again.answer == "unknown":
        raise ApiError("not_found", "no-document")
    status = "running" if again.answer == "running" else "accepted"
    return told(service, document, again.job, again.sequence, status)


def told(service: Service, document: str, job: str, sequence: int, status: str) -> dict[str, JsonValue]:
    return {
        "status": status,
        "job_id": job,
        "document_id": document,
        "sequence": sequence,
        "job": absolute(service, f"/v1/jobs/{job}"),
        "events": absolute(service, f"/v1/jobs/{job}/events"),
    }


def absolute(service: Service, path: str) -> str:
    """With the address under which the outside knows the server, if it is known."""
    base = service.settings.public_url
    return path if base is None else f"{base.rstrip('/')}{path}"


def accepted_response(answer: dict[str, JsonValue]) -> JSONResponse:
    return JSONResponse(answer, ACCEPTED, {"location": str(answer["job"])})


def numbered(revision: str) -> str:
    """The rank of a revision that is a number, which sorts as the number does; "" for any other."""
    digits = revision.lstrip("0") or "0"
    if not (revision.isascii() and revision.isdigit()) or len(digits) > _RANK_DIGITS:
        return ""
    return digits.zfill(_RANK_DIGITS)


def once(*parts: str) -> str:
    """An idempotency key of bounded length, of parts that cannot run into each other. The first names the entrance."""
    digest = hashlib.sha256("".join(f"{len(part)}:{part}" for part in parts).encode("utf-8", "surrogatepass"))
    return f"{parts[0]}:{digest.hexdigest()}"


def trace_of(request: Request) -> str:
    """The W3C traceparent that the request carries, "" where there is none that has the form."""
    value = request.headers.get("traceparent", "")
    return value if TRACEPARENT.fullmatch(value) else ""
