"""Given a job that ends, when its end is recorded, twice or after a death in between, then the store says it once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from catalog.load import load_catalog
from pipeline.compilation import Compilation
from pipeline.compiler import Compiler, Input
from workers import publishing
from workers.context import Context, open_context
from workers.ledger.records import Job
from workers.output import MOST_DIAGNOSTICS, output_of
from workers.publishing import Overtaken
from workers.records import Status
from workers.settings import Settings

from .documents import FAILING, MULTI
from .given import begun_job, claimed_job

CATALOG, TEXT = "c" * 64, "e" * 64


@pytest.fixture
def context(service_settings: Settings) -> Iterator[Context]:
    found = open_context(service_settings)
    found.ledger.open(fresh=True)
    yield found
    found.close()


def compilation_of(context: Context, text: str) -> Compilation:
    return Compiler(load_catalog(), context.store, context.generator).compile(Input("a.md", text.encode()))


def job_of(context: Context) -> Job:
    return begun_job(context.ledger, "parse").job


def publish(context: Context, job: Job, text: str = MULTI) -> publishing.Ending:
    compilation = compilation_of(context, text)
    ending = publishing.publish(context.archive, job, compilation, CATALOG, TEXT, context.generator.identity)
    context.archive.put_outcome(ending.record)
    return ending


def test_a_success_is_published_before_it_is_told(context: Context) -> None:
    """With the output that it was made of."""
    job = job_of(context)
    ending = publish(context, job)
    assert (ending.outcome, ending.record.status) == ("succeeded", "succeeded")
    published = context.archive.published("a.md")
    assert published is not None
    assert published.model_dump(exclude={"retired"}) == ending.record.model_dump()
    assert context.archive.outcome("a.md", job.sequence) == ending.record
    output = context.archive.output(ending.record.output)
    assert output is not None
    assert set(output.files) == {"procedure.py", "graph.mmd", "manifest.json"}
    assert (ending.record.catalog, ending.record.text, ending.record.tools) == (CATALOG, TEXT, ("slack",))


def test_what_was_published_is_not_compiled_again(context: Context) -> None:
    """A worker died after it had published, before or after it wrote the outcome."""
    job = job_of(context)
    assert publishing.earlier_ending(context.archive, job) is None
    ending = publish(context, job)
    name = next(context.store.pointer_names("outcome/"))
    data = context.store.get_pointer(name)
    assert data is not None
    assert context.store.delete_pointer(name, data)
    again = publishing.earlier_ending(context.archive, job)
    assert again == ending
    assert context.archive.outcome("a.md", job.sequence) == ending.record


def test_a_failure_leaves_what_is_published(context: Context) -> None:
    """And is found again, too."""
    first = publish(context, job_of(context))
    job = job_of(context)
    ending = publish(context, job, FAILING)
    assert (ending.outcome, ending.record.errors, ending.record.tools) == ("failed", 1, ())
    published = context.archive.published("a.md")
    assert published is not None
    assert published.job == first.record.job
    assert publishing.earlier_ending(context.archive, job) == ending


def test_an_older_save_never_replaces_a_newer_one(context: Context) -> None:
    """It is superseded, whether it notices before it compiles or when it publishes."""
    older, newer = job_of(context), job_of(context)
    publish(context, newer)
    with pytest.raises(Overtaken):
        publish(context, older)
    ending = publishing.earlier_ending(context.archive, older)
    assert ending is not None
    assert (ending.outcome, ending.record.status) == ("superseded", "superseded")
    published = context.archive.published("a.md")
    assert published is not None
    assert published.order == (newer.sequence, 0)


def test_a_round_never_outranks_a_save(context: Context) -> None:
    """But it replaces the round before it; where it is overtaken the save keeps its outcome."""
    first = job_of(context)
    publish(context, first)
    again = replace(first, id="1" * 27, round=1)
    assert publish(context, again).record.round == 1
    newer = job_of(context)
    publish(context, newer)
    late = replace(first, id="2" * 27, round=2)
    ending = publishing.earlier_ending(context.archive, late)
    assert ending is not None
    assert ending.outcome == "superseded"
    found = context.archive.outcome("a.md", first.sequence)
    assert found is not None
    assert (found.round, found.status) == (1, "succeeded")


def test_retiring(context: Context) -> None:
    """Nothing is compiled, and it may run twice."""
    publish(context, job_of(context))
    job = replace(job_of(context), action="retire")
    first = publishing.retire(context.archive, job)
    assert (first.outcome, first.record.status, first.record.output) == ("succeeded", "retired", "")
    published = context.archive.published("a.md")
    assert published is not None
    assert published.retired
    assert publishing.earlier_ending(context.archive, job) == first


@pytest.mark.parametrize(("state", "status"), [("superseded", "superseded"), ("dead", "dead")])
def test_ends_in_the_ledger_alone_are_told_to_the_store(context: Context, state: str, status: Status) -> None:
    """Twice is once. A dead job leaves a letter with stage and cause."""
    job = replace(job_of(context), state=state, cause="why", ended_ms=77)  # type: ignore[arg-type]  # one of its words
    for _ in range(2):
        assert publishing.record_end(context.archive, job)
    outcome = context.archive.outcome("a.md", job.sequence)
    assert outcome is not None
    assert (outcome.status, outcome.at_ms) == (status, 77)
    letter = context.archive.dead(job.id)
    assert (letter is None) == (state == "superseded")
    if letter is not None:
        assert (letter.stage, letter.cause, letter.at_ms, letter.document) == ("parse", "why", 77, "a.md")


def test_what_is_under_way_is_not_told(context: Context) -> None:
    """A dead job that was replayed before anybody told the store."""
    claimed = claimed_job(context.ledger)
    job = context.ledger.job(claimed)
    assert job is not None
    assert not publishing.record_end(context.archive, job)
    assert context.archive.outcome("a.md", job.sequence) is None


def test_a_dead_round_leaves_the_saves_outcome(context: Context) -> None:
    """The save was compiled; only its compile again came to nothing."""
    first = job_of(context)
    ending = publish(context, first)
    job = replace(first, id="1" * 27, round=1, job_class="bulk", state="dead", cause="why")
    assert publishing.record_end(context.archive, job)
    assert context.archive.outcome("a.md", first.sequence) == ending.record
    letter = context.archive.dead(job.id)
    assert letter is not None
    assert letter.job_class == "bulk"  # in which it is tried again, even after the ledger was rebuilt


def test_diagnostics_are_bounded_and_counted(context: Context) -> None:
    """A text of warnings alone: the first ones are kept, all are counted."""
    count = MOST_DIAGNOSTICS + 10
    text = "# 手順\n\n" + "".join(
        f"## フェーズ {number}: 仕事 (使う道具: なし)\n\nslack を見る。\n\n" for number in range(1, count + 1)
    )
    compilation = compilation_of(context, text)
    total = len(compilation.findings)
    output = output_of(compilation, context.generator.identity)
    assert {lang: len(found) for lang, found in output.diagnostics.items()} == {
        "ja": min(total, MOST_DIAGNOSTICS),
        "en": min(total, MOST_DIAGNOSTICS),
    }
