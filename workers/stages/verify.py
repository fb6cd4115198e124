"""The last stage: the module is verified, whoever made it, and published; or the document is retired."""

from __future__ import annotations

from pipeline.compilation import Compilation
from pipeline.compiler import Input
from workers import publishing
from workers.context import Context
from workers.ledger.records import Job, Lease
from workers.publishing import Ending, Overtaken
from workers.stages.compiling import take_up


def run(context: Context, lease: Lease) -> Ending:
    job = lease.job
    earlier = publishing.earlier_ending(context.archive, job)
    if earlier is not None:
        _update_project(context, job)
        return earlier
    try:
        ending = publishing.retire(context.archive, job) if job.action == "retire" else _compile(context, lease)
    except Overtaken:
        return publishing.overtaken(context.archive, job)
    _update_project(context, job)
    return ending


def _update_project(context: Context, job: Job) -> None:
    if job.action == "retire":
        context.ledger.forget(job.document, job.sequence)


def _compile(context: Context, lease: Lease) -> Ending:
    """Raises Overtaken."""
    job = lease.job
    note, handed = take_up(context, lease)
    endings: list[Ending] = []

    def publish(compilation: Compilation) -> None:
        identity = context.generator.identity
        endings.append(publishing.publish(context.archive, job, compilation, note.catalog, note.text, identity))

    compilation = context.compiler(note.catalog).compile(
        Input(job.document, handed.text),
        context.projects.current(),
        publish=publish,
        handed=handed.advance,
        reported=handed.reports,
    )
    # Behind what the compiler remembers of it: a store that gathers writes both at once.
    context.archive.put_outcome(endings[-1].record)
    context.store.flush()
    publishing.count(compilation)
    return endings[-1]
