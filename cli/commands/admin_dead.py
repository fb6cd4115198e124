"""`aop admin dead`: the jobs that used up their attempts; look at them, try them again, give them up."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue
from wcwidth import width as columns

from cli import streams
from cli.administering import administered, moment
from cli.exits import OK
from cli.json_output import print_json
from cli.messages import say
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from workers import dead
from workers.audit import COMMAND_LINE
from workers.ledger.records import Event, Job

MOST: Final = 100
EVERY: Final = 1_000_000


def run_list(lang: Lang, *, as_json: bool, most: int = MOST) -> int:
    """The newest deaths first. Raises OutputFault, StoreError."""
    with administered() as installation:
        jobs = list(dead.dead_jobs(installation.ledger, most))
    if as_json:
        print_json([_job_dict(job) for job in jobs])
        return OK
    if not jobs:
        streams.emit(f"{say('admin.dead-none', lang)}\n")
    for job in jobs:
        streams.emit(
            f"{job.id}  {moment(job.ended_ms)}  {job.stage:<8}  {visible(job.document)} #{job.sequence}\n"
            f"    {visible(job.cause)}\n"
        )
    return OK


def run_show(job: str, lang: Lang, *, as_json: bool) -> int:
    """One of them, with what happened to it. Raises Trouble, OutputFault, StoreError."""
    with administered() as installation:
        found = dead.dead_job(installation.ledger, job)
        if found is None:
            raise Trouble("admin.dead-unknown", job=job)
        events = installation.ledger.events(job)
    if as_json:
        print_json({**_job_dict(found), "events": [_event_dict(event) for event in events]})
        return OK
    rows = [
        ("job", found.id),
        ("document", f"{found.document} #{found.sequence}" + (f".{found.round}" if found.round else "")),
        ("source", f"{found.source} {found.revision}".strip()),
        ("stage", found.stage),
        ("attempts", f"{found.attempts} ({found.total_attempts})"),
        ("created", moment(found.created_ms)),
        ("died", moment(found.ended_ms)),
        ("cause", found.cause),
    ]
    names = {name: say(f"admin.dead-{name}", lang) for name, _ in rows}
    width = max(map(columns, names.values()))
    for name, value in rows:
        gap = " " * (width - columns(names[name]))
        streams.emit(f"{names[name]}{gap}  {visible(value)}\n")
    for event in events:
        streams.emit(f"    {moment(_event_ms(event))}  {visible(event.event)} {visible(event.detail)}\n")
    return OK


def run_replay(jobs: list[str], lang: Lang, *, every: bool = False) -> int:
    """Each again from the stage where it died; with `every` all that there are. Raises Trouble, OutputFault,
    StoreError."""
    with administered() as installation:
        for identity in installation.ledger.dead(EVERY) if every else jobs:
            found = dead.dead_job(installation.ledger, identity)
            message = None if found is None else dead.replay(installation.ledger, installation.archive, identity)
            if message is None or found is None:
                raise Trouble("admin.dead-unknown", job=identity)
            installation.audit.record(COMMAND_LINE, "dead-letter.replay", identity, before=_audited(found))
            streams.emit(f"{say('admin.dead-replayed', lang, job=identity, stage=message.stage)}\n")
    return OK


def run_drop(jobs: list[str], lang: Lang) -> int:
    """Given up; what is published stays. Raises Trouble, OutputFault, StoreError."""
    with administered() as installation:
        for identity in jobs:
            found = dead.dead_job(installation.ledger, identity)
            if found is None or not dead.drop(installation.ledger, installation.archive, identity):
                raise Trouble("admin.dead-unknown", job=identity)
            installation.audit.record(COMMAND_LINE, "dead-letter.drop", identity, before=_audited(found))
            streams.emit(f"{say('admin.dead-dropped', lang, job=identity)}\n")
    return OK


def _job_dict(job: Job) -> dict[str, str | int]:
    return {
        "job_id": job.id,
        "document_id": job.document,
        "sequence": job.sequence,
        "round": job.round,
        "class": job.job_class,
        "source": job.source,
        "revision": job.revision,
        "stage": job.stage,
        "attempts": job.attempts,
        "total_attempts": job.total_attempts,
        "created": moment(job.created_ms),
        "died": moment(job.ended_ms),
        "cause": job.cause,
    }


def _audited(job: Job) -> dict[str, JsonValue]:
    return {"document": job.document, "sequence": job.sequence, "stage": job.stage, "cause": job.cause}


def _event_ms(event: Event) -> int:
    return int(event.id.partition("-")[0])


def _event_dict(event: Event) -> dict[str, str]:
    return {"at": moment(_event_ms(event)), "event": event.event, "detail": event.detail}
