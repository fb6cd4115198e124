"""Given a running installation, when documents are saved, then four workers make of them what `aop compile` makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from workers.ledger.records import STAGES, Message
from workers.queues import queue_key
from workers.records import Output, Status, result_of

from .documents import FAILING, MULTI, UNREADABLE, compiled, large
from .installation import Installation


def same(output: Output, expected: dict[str, str]) -> None:
    """Files byte for byte, and the result but for the folder that only the command line writes."""
    result: dict[str, Any] = json.loads(expected["result"])
    result["document"]["output"] = None
    assert result_of(output, "ja") == result
    assert output.files == {name: text for name, text in expected.items() if name != "result"}
    assert [entry["code"] for entry in output.diagnostics["en"]] == [entry["code"] for entry in result["diagnostics"]]


def test_a_save_is_published_as_the_command_line_compiles_it(installation: Installation, tmp_path: Path) -> None:
    """All files byte for byte, the result with diagnostics in both languages, and how each stage went."""
    name = "経理/月次の締め.md"
    accepted = installation.save(name, MULTI)
    outcome = installation.outcome(accepted)
    assert (outcome.status, outcome.name, outcome.kind, outcome.tools) == (
        "succeeded",
        "月次の締め",
        "multi",
        ("slack",),
    )
    expected = compiled(tmp_path, {name: MULTI})[name]
    same(installation.output(name), expected)
    published = installation.published(name)
    assert (published.order, published.retired) == ((accepted.sequence, 0), False)
    assert [line.stage for line in outcome.stages] == ["parse", "resolve", "generate", "generate", "link", "verify"]
    job = installation.job(accepted.job)
    assert set(job.took_ms) == set(STAGES)
    assert json.loads(job.outcome)["output"] == outcome.output


def test_edits_are_reported_as_the_command_line_reports_them(installation: Installation, tmp_path: Path) -> None:
    """What ran and what was reused, and why, over several saves of one document, is the same in both."""
    name = "edits.md"
    saves = [MULTI, MULTI.replace("請求書を", "領収書を"), MULTI + "\n<!-- 注 -->\n", MULTI, FAILING, MULTI]
    for text in saves:
        outcome = installation.outcome(installation.save(name, text))
        found = installation.archive.output(outcome.output)
        assert found is not None
        same(found, compiled(tmp_path, {name: text}, tmp_path / "cache")[name])


def test_an_unchanged_save_is_published_again(installation: Installation) -> None:
    """Nothing runs; it has an outcome and a place in the order like any other."""
    first = installation.outcome(installation.save("unchanged.md", MULTI))
    second = installation.outcome(installation.save("unchanged.md", MULTI))
    assert {line.outcome for line in second.stages} == {"reused"}
    assert installation.published("unchanged.md").order == (second.sequence, 0)
    assert second.sequence > first.sequence
    assert set(installation.job(second.job).took_ms) == {"parse", "verify"}


@pytest.mark.parametrize(("text", "path"), [(FAILING, "failing.md"), (UNREADABLE, "unreadable.md")])
def test_a_failing_document_leaves_what_is_published(
    installation: Installation, tmp_path: Path, text: str | bytes, path: str
) -> None:
    """Its save has failed, with the same diagnostics as on the command line; the last good artifact stays."""
    good = installation.outcome(installation.save(path, MULTI))
    bad = installation.outcome(installation.save(path, text))
    assert (bad.status, bad.errors) == ("failed", 1)
    assert installation.published(path).order == (good.sequence, 0)
    assert installation.wait(bad.job).state == "failed"
    output = installation.archive.output(bad.output)
    assert output is not None
    result: dict[str, Any] = json.loads(compiled(tmp_path, {path: text})[path]["result"])
    assert result_of(output, "ja")["diagnostics"] == result["diagnostics"]
    assert output.files == {}


def test_a_document_that_fails_at_first_is_published_by_its_next_save(installation: Installation) -> None:
    """There is nothing published before."""
    assert installation.outcome(installation.save("first.md", FAILING)).status == "failed"
    assert installation.archive.published("first.md") is None
    assert installation.outcome(installation.save("first.md", MULTI)).status == "succeeded"
    assert installation.published("first.md").name == "月次の締め"


def test_a_retired_document_is_no_longer_there(installation: Installation) -> None:
    """It compiles nothing; saving it again brings it back."""
    installation.outcome(installation.save("retired.md", MULTI))
    retired = installation.outcome(installation.retire("retired.md"))
    assert retired.status == "retired"
    assert installation.published("retired.md").retired
    assert installation.published("retired.md").output == ""
    found = installation.context.ledger.document("retired.md")
    assert found is not None
    assert found.state == "retired"
    project = installation.context.ledger.project()
    assert project is not None
    assert "retired.md" not in project.rows
    installation.outcome(installation.save("retired.md", MULTI))
    assert not installation.published("retired.md").retired


def test_a_burst_ends_with_the_newest(installation: Installation) -> None:
    """Every save has an outcome, and what is published is the last one's compile."""
    texts = [f"{MULTI}\n{number}\n" for number in range(30)]
    accepted = [installation.save("burst.md", text) for text in texts]
    outcomes = [installation.outcome(save) for save in accepted]
    assert outcomes[-1].status == "succeeded"
    assert {outcome.status for outcome in outcomes} <= {"succeeded", "superseded"}
    assert installation.published("burst.md").order == (accepted[-1].sequence, 0)
    statuses: list[Status] = [outcome.status for outcome in outcomes]
    assert statuses.count("succeeded") < len(texts)


def test_many_documents_at_once(installation: Installation, tmp_path: Path) -> None:
    """Each is published as the command line compiles it."""
    documents = {f"many/{number}.md": MULTI.replace("請求書", f"請求書 {number}") for number in range(20)}
    accepted = {name: installation.save(name, text) for name, text in documents.items()}
    expected = compiled(tmp_path, documents)
    for name, save in accepted.items():
        assert installation.outcome(save).status == "succeeded"
        same(installation.output(name), expected[name])


def test_a_large_document(installation: Installation, tmp_path: Path) -> None:
    """Hundreds of phases; its ledger entry stays small."""
    accepted = installation.save("large.md", large())
    assert installation.outcome(accepted).status == "succeeded"
    same(installation.output("large.md"), compiled(tmp_path, {"large.md": large()})["large.md"])
    key = f"{installation.settings.redis_prefix}:job:{accepted.job}"
    fields = installation.redis.hgetall(key)
    assert isinstance(fields, dict)
    assert sum(map(len, fields.values())) < 5_000


def test_messages_twice_and_for_other_stages_run_nothing(installation: Installation) -> None:
    """Ten of each stage for one job: one compile, one outcome."""
    accepted = installation.save("twice.md", MULTI)
    for _ in range(10):
        for stage in STAGES:
            installation.send(Message(accepted.job, stage, "interactive"))
    outcome = installation.outcome(accepted)
    assert outcome.status == "succeeded"
    assert installation.job(accepted.job).total_attempts == len(STAGES)


def test_what_is_no_message_is_dropped(installation: Installation) -> None:
    """Workers go on, and take the message behind it."""
    for stage in STAGES:
        key = queue_key(installation.settings.redis_prefix, f"{stage}.interactive")
        for garbage in (
            "",
            "nonsense",
            "{}",
            "null",
            '{"properties":{}}',
            "[" * 5_000,
            '{"__type__":"uuid","__value__":1}',
        ):
            installation.redis.lpush(key, garbage)
    assert installation.outcome(installation.save("garbage.md", MULTI)).status == "succeeded"
    assert all(installation.is_running(stage) for stage in STAGES)
    for stage in STAGES:
        assert "message refused" in installation.log(stage)
    keys = [queue_key(installation.settings.redis_prefix, f"{stage}.interactive") for stage in STAGES]
    installation.until(lambda: not any(installation.redis.llen(key) for key in keys))


def test_a_second_round_of_the_same_save(installation: Installation) -> None:
    """A recompile is published under the same sequence, and never outranks a save."""
    name = "round.md"
    first = installation.save(name, MULTI)
    installation.outcome(first)
    message = installation.context.ledger.recompile(name)
    assert isinstance(message, Message)
    assert installation.wait(message.job).state == "succeeded"
    assert installation.published(name).order == (first.sequence, 1)
    outcome = installation.archive.outcome(name, first.sequence)
    assert outcome is not None
    assert (outcome.round, outcome.job_class) == (1, "bulk")
    second = installation.save(name, MULTI + "\n")
    installation.outcome(second)
    assert installation.published(name).order == (second.sequence, 0)
