"""Jobs, saves and what became of them as JSON: the same over HTTP and MCP. Times in ms since 1970, sizes in bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from pydantic import JsonValue

from pipeline.diagnostics.lang import Lang
from pipeline.result import ResultDict
from server.masking import masked_result
from server.service import Backend, Service
from workers.ledger.records import ENDED, Document, Job
from workers.records import Outcome, Published, Save, result_of
from workers.tokens import Token

Json = dict[str, JsonValue]


def job_dict(service: Service, job: Job) -> Json:
    """Without its result. `cause`: of the last attempt that failed for a reason of ours."""
    return {
        "job_id": job.id,
        "document_id": job.document,
        "sequence": job.sequence,
        "round": job.round,
        "class": job.job_class,
        "action": job.action,
        "source": job.source,
        "revision": job.revision,
        "state": job.state,
        "ended": job.state in ENDED,
        "stage": job.stage,
        "attempts": job.total_attempts,
        "created_ms": job.created_ms,
        "claimed_ms": job.claimed_ms,
        "ended_ms": job.ended_ms,
        "took_ms": {str(stage): took for stage, took in job.took_ms.items()},
        "superseded_by": job.superseded if job.state == "superseded" else None,
        "cause": service.masking.text(job.cause),
    }


def outcome_dict(outcome: Outcome) -> Json:
    """What became of a save, without its result."""
    return {
        "sequence": outcome.sequence,
        "round": outcome.round,
        "job_id": outcome.job,
        "status": outcome.status,
        "at_ms": outcome.at_ms,
        "name": outcome.name,
        "kind": outcome.kind,
        "calls": list(outcome.calls),
        "tools": list(outcome.tools),
        "errors": outcome.errors,
        "warnings": outcome.warnings,
        "text_sha256": outcome.text,
        "catalog": outcome.catalog,
    }


def stages_of(outcome: Outcome) -> list[JsonValue]:
    """What ran and what was reused, and why (spec R3)."""
    return [cast("JsonValue", line.model_dump()) for line in outcome.stages]


def save_dict(save: Save, outcome: Outcome | None) -> Json:
    """`outcome` None: its job has not ended."""
    return {
        "sequence": save.sequence,
        "action": save.action,
        "source": save.source,
        "revision": save.revision,
        "job_id": save.job,
        "bytes": save.bytes,
        "received_ms": save.received_ms,
        "outcome": None if outcome is None else outcome_dict(outcome),
    }


def document_dict(document: Document, published: Published | None, stale: Sequence[str]) -> Json:
    """`state`: of the newest compile that has ended; `published` None: nothing is. `stale`: why a compile with the
    current catalog would change it, in R3's words."""
    return {
        "document_id": document.id,
        "state": document.state,
        "sequence": document.sequence,
        "name": published.name if published is not None else "",
        "running_job_id": document.running or document.waiting or None,
        "published": None if published is None or published.retired else outcome_dict(published),
        "retired": published is not None and published.retired,
        "stale": list(stale),
    }


def result_dict(backend: Backend, service: Service, token: Token, outcome: Outcome, lang: Lang) -> ResultDict | None:
    """O2, without the names that the token must not know. None where the store has it no more."""
    output = backend.archive.output(outcome.output) if outcome.output else None
    if output is None:
        return None
    return masked_result(result_of(output, lang), token, outcome.document, service.project, lang)


def job_result(backend: Backend, service: Service, token: Token, job: Job, lang: Lang) -> Json:
    """What a job that has ended adds: `stages` and `result`; null where there is none, or a later round replaced it."""
    outcome = backend.archive.outcome(job.document, job.sequence) if job.state in ENDED else None
    if outcome is None or outcome.job != job.id:
        return {"stages": [], "result": None}
    result = result_dict(backend, service, token, outcome, lang)
    return {"stages": stages_of(outcome), "result": cast("JsonValue", result)}


def dumps(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
