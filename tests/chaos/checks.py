"""What must be true when all has come to rest. Each fault is one sentence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, cast

from catalog.load import load_catalog
from pipeline.compiler import NO_PROJECT, Compiler, Input
from pipeline.generators.registry import default_registry
from pipeline.stores.memory import MemoryStore
from workers.archive import Archive
from workers.ledger.records import STAGES
from workers.output import output_of
from workers.queues import QUEUES, queue_key
from workers.records import Outcome, Output, Published, RecordCorrupt, Save, result_of

from .installation import PREFIX, Installation
from .plan import Message
from .senders import Answers

_COMPILED: Final = ("succeeded", "failed")


class Judge:
    """Compiles in this process, with a store and a catalog of its own."""

    def __init__(self) -> None:
        self._compiler = Compiler(load_catalog(), MemoryStore(), default_registry().find())

    def compile(self, document: str, text: bytes) -> Output:
        compilation = self._compiler.compile(Input(document, text), NO_PROJECT)
        return output_of(compilation, self._compiler.generator.identity)


@dataclass(slots=True)
class Found:
    """All that the store holds, and the ledger's keys."""

    saves: dict[str, dict[int, Save]] = field(default_factory=dict)
    outcomes: dict[str, dict[int, Outcome]] = field(default_factory=dict)
    published: dict[str, Published] = field(default_factory=dict)


def read_all(archive: Archive, documents: Sequence[str]) -> Found:
    found = Found()
    for stored in archive.listed(archive.listing()):
        if isinstance(stored, RecordCorrupt):
            raise stored
        if stored is not None:
            found.saves[stored.document] = stored.saves
            found.outcomes[stored.document] = stored.outcomes
            if stored.published is not None:
                found.published[stored.document] = stored.published
    assert set(found.saves) <= set(documents)
    return found


# ------------------------------------------------------------------------------------------------------- answers


def faults_of_answers(answers: Answers, found: Found) -> Iterator[str]:
    """Every message was accepted, as one job, which has an outcome."""
    yield from (f"refused: {text}" for text in answers.refused)
    for identity, message in answers.sent.items():
        given = answers.given.get(identity, [])
        if not given:
            yield f"{identity}: never accepted"
            continue
        jobs = {answer.job for answer in given}
        if len(jobs) > 1:
            yield f"{identity} ({message.document}): one message, {len(jobs)} jobs: {sorted(given)}"
        outcomes = found.outcomes.get(message.document, {})
        for sequence in sorted({answer.sequence for answer in given} - set(outcomes)):
            yield f"{identity} ({message.document}): the accepted save {sequence} has no outcome"
    yield from _compiled_twice(answers, found)


def _compiled_twice(answers: Answers, found: Found) -> Iterator[str]:
    texts = {message.text: identity for identity, message in answers.sent.items()}
    digests: Counter[tuple[str, str]] = Counter()
    for document, outcomes in found.outcomes.items():
        for sequence, outcome in outcomes.items():
            if outcome.status in _COMPILED and sequence in found.saves[document]:
                digests[document, found.saves[document][sequence].text] += 1
    assert len(texts) == len(answers.sent), "every save has a text of its own"
    for (document, digest), count in digests.items():
        if count > 1:
            yield f"{document}: the save of text {digest[:12]} was compiled as {count} saves"


def newest_of(answers: Answers) -> dict[str, tuple[int, Message]]:
    """The newest accepted save of each document, as its senders were told."""
    newest: dict[str, tuple[int, Message]] = {}
    for identity, given in answers.given.items():
        message = answers.sent[identity]
        for answer in given:
            if answer.status == "accepted" and answer.sequence > newest.get(message.document, (0, message))[0]:
                newest[message.document] = (answer.sequence, message)
    return newest


# ----------------------------------------------------------------------------------------------------- documents


def faults_of_documents(archive: Archive, answers: Answers, found: Found) -> Iterator[str]:
    """What is published is the compile of the newest accepted save; where that has errors, of an earlier one."""
    judge = Judge()
    for document, (sequence, message) in sorted(newest_of(answers).items()):
        expected = judge.compile(document, message.text.encode())
        outcome, published = found.outcomes[document].get(sequence), found.published.get(document)
        if expected.files:
            if published is None:
                yield f"{document}: nothing is published, and save {sequence} should be"
                continue
            text = message.text.encode()
        else:
            if outcome is None or outcome.status != "failed" or outcome.errors == 0:
                yield f"{document}: save {sequence} has errors, and its outcome is {outcome and outcome.status}"
                continue
            if _output(archive, outcome).diagnostics != expected.diagnostics:
                yield f"{document}: save {sequence} has other diagnostics than its compile here"
            if published is None:
                continue
            text = archive.text(published.text) or b""
            expected = judge.compile(document, text)
        shown = _output(archive, published)
        if shown.files != expected.files:
            yield f"{document}: published is save {published.sequence}, not the compile of save {sequence}"
        elif (result_of(shown, "ja")["document"], shown.diagnostics) != (
            result_of(expected, "ja")["document"],
            expected.diagnostics,
        ):
            yield f"{document}: published with another result than its compile here"


def _output(archive: Archive, outcome: Outcome) -> Output:
    found = archive.output(outcome.output)
    assert found is not None, f"the output of {outcome.document} is gone"
    return found


# ------------------------------------------------------------------------------------------------------ the ledger


def faults_of_ledger(installation: Installation) -> Iterator[str]:
    """Nothing is under way, nothing temporary is left, no attempt is beyond the cap."""
    redis, most = installation.redis, installation.settings.most_attempts
    for place, count in installation.ledger.depths().items():
        if count:
            yield f"the ledger: {count} in {place}"
    for queue in QUEUES:
        length = redis.llen(queue_key(PREFIX, queue))
        if length:
            yield f"the queue {queue} holds {length} messages"
    for key in cast("Iterator[str]", redis.scan_iter(f"{PREFIX}:*", count=1_000)):
        if key.endswith(":copy") or key == f"{PREFIX}:unrecorded":
            yield f"a temporary key is left: {key}"
        elif key.startswith(f"{PREFIX}:job:"):
            token, attempts, state = cast("list[str | None]", redis.hmget(key, "token", "attempts", "state"))
            if token:
                yield f"{key} still has a lease ({state})"
            if int(attempts or 0) > most:
                yield f"{key} was tried {attempts} times, of {most}"
        elif key.startswith(f"{PREFIX}:doc:"):
            waiting, running = cast("list[str | None]", redis.hmget(key, "waiting", "running"))
            if waiting or running:
                yield f"{key} still waits for {waiting or running}"
    for tag, text in cast("dict[str, str]", redis.hgetall(f"{PREFIX}:queue:unacked")).items():
        job = job_of_message(text)
        found = installation.ledger.job(job)
        if found is not None and found.ended_ms is None:
            yield f"the message {tag} of a dead worker is the last one of the job {job}"


def job_of_message(text: str) -> str:
    """Of one that a worker has taken: Celery's envelope."""
    import base64

    body: list[list[str]] = json.loads(base64.b64decode(json.loads(text)[0]["body"]))
    return body[0][0]


def attempts_of(installation: Installation) -> Counter[int]:
    """How many jobs took how many attempts beyond one a stage."""
    found: Counter[int] = Counter()
    for key in installation.redis.scan_iter(f"{PREFIX}:job:*", count=1_000):
        total, state = installation.redis.hmget(key, "total_attempts", "state")
        if state in _COMPILED:
            found[max(0, int(total or 0) - len(STAGES))] += 1
    return found
