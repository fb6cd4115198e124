"""What the stages before the last have in common: taking up the work, and handing it on."""

from __future__ import annotations

from typing import Literal

from pipeline.compiler import Advance, Input
from pipeline.stores.protocol import DamagedBlob
from workers.context import Context
from workers.faults import SaveMissing
from workers.handoff import Handed, Note, from_inline, inline, note_of, pack, unpack
from workers.ledger.records import Job, Lease, Stage
from workers.records import Save
from workers.stages.step import Next

Until = Literal["parse", "resolve", "link"]


def save_of(context: Context, job: Job) -> Save:
    """Raises SaveMissing."""
    save = context.archive.save(job.document, job.sequence)
    if save is None:
        raise SaveMissing(job.document, job.sequence)
    return save


def text_of(context: Context, job: Job) -> tuple[str, bytes]:
    """The saved text and its digest; fetched where the save only refers to it. Raises SaveMissing, FetchError."""
    save = save_of(context, job)
    if save.text:
        text = context.archive.text(save.text)
        if text is None:
            raise SaveMissing(job.document, job.sequence)
        return save.text, text
    if save.reference is None:
        raise SaveMissing(job.document, job.sequence)
    text = context.fetch(save.reference)
    return context.archive.put_text(text), text


def take_up(context: Context, lease: Lease) -> tuple[Note, Handed]:
    """What the stage before left. Where it is gone or damaged the work begins anew, with the catalog that the job has.

    Raises SaveMissing, FetchError, CatalogMissing, LedgerCorrupt.
    """
    note = note_of(lease.job, lease.stage)
    handed = None if note is None else _handed(context, note)
    if note is not None and handed is not None:
        return note, handed
    digest, text = text_of(context, lease.job)
    catalog = note.catalog if note is not None else lease.catalog or context.catalogs.current()
    return Note(catalog=catalog, text=digest), Handed(text, (), None)


def _handed(context: Context, note: Note) -> Handed | None:
    try:
        data = context.store.get_blob(note.text if note.inline else note.handed) if note.inline or note.handed else None
    except DamagedBlob:
        return None
    if data is None:
        return None
    return from_inline(note, data) if note.inline else unpack(data)


def advance(context: Context, job: Job, note: Note, handed: Handed, until: Until) -> Advance:
    """Compile up to and including that stage."""
    return context.compiler(note.catalog).advance(
        Input(job.document, handed.text),
        context.projects.current(),
        until=until,
        handed=handed.advance,
        reported=handed.reports,
    )


def hand_on(context: Context, note: Note, handed: Handed, advanced: Advance, following: Stage) -> Next:
    """To the next stage, or to the last where nothing more can come of the compile."""
    following = "verify" if advanced.finished else following
    onward = Handed(handed.text, advanced.compilation.stages, advanced.handed)
    written = inline(onward)
    digest = ""
    if not written:
        digest = context.store.put_blob(pack(onward))
        # Before the ledger says so: what a message leads to must be there for whoever takes it.
        context.store.flush()
    return Next(following, note.model_copy(update={"inline": written, "handed": digest}))
