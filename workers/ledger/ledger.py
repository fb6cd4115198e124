"""The ledger: every transition of jobs and documents, each one atomic step of a Lua file beside this module."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, cast

from redis import Redis
from redis.exceptions import ResponseError

from workers import clock
from workers.ledger.reading import SCHEMA_VERSION, LedgerReader
from workers.ledger.records import (
    Acceptance,
    Accepted,
    Action,
    Again,
    Beat,
    Begun,
    Facts,
    Job,
    JobClass,
    Lease,
    LedgerCorrupt,
    LedgerLost,
    Message,
    NotRecompiled,
    Outcome,
    Project,
    Reservation,
    Reserved,
    Row,
    Stage,
    row_of,
    row_text,
)
from workers.ledger.taking import Taking, begun_of

_LUA: Final = Path(__file__).parent / "lua"
_REBUILDS: Final = frozenset({"open", "placed", "restore", "restore_dead", "tidy"})
"""The scripts by which reindex makes a new ledger; all others want one that is open."""


@dataclass(frozen=True, slots=True)
class Timing:
    """All in ms. `quiet` after a save, at most `longest_wait` after the first one. `lease`: how long a worker may be
    silent. `message_lost`: after which a message that has left its queue and that nobody began is sent again; a second
    one runs nothing. `patience`: a document that has gone unpublished for longer keeps its running job when a newer
    save comes. `keep_once`, `keep_job`: of idempotency keys and ended jobs."""

    quiet: int = 2_000
    longest_wait: int = 10_000
    lease: int = 30_000
    message_lost: int = 60_000
    patience: int = 60_000
    keep_once: int = 86_400_000
    keep_job: int = 86_400_000
    most_attempts: int = 5


def _read_scripts() -> dict[str, str]:
    keys = (_LUA / "keys.lua").read_text(encoding="utf-8")
    found = {}
    for path in sorted(_LUA.glob("*.lua")):
        head = f"local SCHEMA, REBUILDS = '{SCHEMA_VERSION}', {'true' if path.stem in _REBUILDS else 'false'}"
        found[path.stem] = "\n".join((head, keys, path.read_text(encoding="utf-8")))
    del found["keys"]
    return found


_SCRIPTS: Final = _read_scripts()
"""Read with this module: a child that is forked after the files were replaced has the scripts that its code knows."""


class Ledger(LedgerReader):
    """`client` decodes responses. `prefix`: of all keys of one installation.

    Every method is one round trip and may raise redis.RedisError; what it changed then is unknown, and asking again is
    safe: a transition that happened already answers so. Every one raises LedgerLost where Redis holds no ledger, and
    LedgerVersion where it holds that of another version.
    """

    def __init__(self, client: Redis, prefix: str = "aop", timing: Timing | None = None) -> None:
        super().__init__(client, prefix)
        self.timing = timing or Timing()
        self._scripts = {name: client.register_script(source) for name, source in _SCRIPTS.items()}

    def open(self, *, fresh: bool = False) -> None:
        """Check the layout. `fresh`: make a ledger where there is none, which is right only while the store holds no
        document (`workers.intake.open_installation`). Raises LedgerLost, LedgerVersion."""
        try:
            self.check()
        except LedgerLost:
            if not fresh:
                raise
            self.end_rebuild(self.begin_rebuild())

    # --------------------------------------------------------------------------------------------- rebuilding

    def begin_rebuild(self) -> str:
        """A name for the new ledger, the same for all who make it at once; "" where there is a ledger already. Until
        `end_rebuild` all but what takes its name raises LedgerLost, and those, too, if Redis is wiped again.
        Raises LedgerVersion."""
        key = f"{self._prefix}:meta"
        try:
            self.open()
        except LedgerLost:
            self._client.hsetnx(key, "rebuild", new_id())
            return cast("str | None", self._client.hget(key, "rebuild")) or ""
        return ""

    def restore(self, document: str, facts: Facts, rebuild: str = "") -> tuple[bool, int]:
        """Add what the ledger lacks. Returns whether the newest save got its job again, and the sequence of the newest
        accepted save as the ledger now has it. On a living ledger nothing else changes."""
        timing = self.timing
        numbers = (timing.quiet, timing.longest_wait, timing.keep_job)
        answer, accepted = self.transition(
            "restore", (rebuild, document, json.dumps(facts, ensure_ascii=False)), numbers
        )
        return answer == "made", int(accepted or 0)

    def restore_dead(self, job: Job, rebuild: str = "") -> bool:
        """Put a dead job back, from its first stage on. False: the ledger has the job."""
        order = (str(job.sequence), str(job.round), job.job_class, job.action)
        texts = (rebuild, job.id, job.document, *order, job.source, job.revision, job.trace, job.cause)
        return bool(self._run_number("restore_dead", texts, (job.ended_ms or 0,)))

    def is_placed(self, job: str, rebuild: str = "") -> bool:
        """Whether the job will go on by itself, or has ended and the store is told of it. False: there is none, or it
        is what is left where a part of Redis was lost."""
        return bool(self._run_number("placed", (rebuild, job)))

    def tidy(self, rebuild: str = "") -> int:
        """Have jobs that are gone no longer count as in flight; how many."""
        return self._run_number("tidy", (rebuild,), (self.timing.keep_job,))

    def end_rebuild(self, rebuild: str) -> None:
        """The new ledger is whole, and opens."""
        if rebuild:
            self._run_number("open", (rebuild, secrets.token_hex(8)))

    # ---------------------------------------------------------------------------------------------- saves

    def reserve(self, document: str, *, source: str, revision: str = "", idempotency_key: str = "") -> Reserved:
        """The sequence under which a save is to be stored, before `accept`."""
        texts = (document, source, revision, idempotency_key)
        answer, job, sequence = self.transition("reserve", texts, (self.timing.keep_once,))
        return Reserved(cast("Reservation", answer), job, int(sequence or 0))

    def accept(
        self,
        document: str,
        *,
        sequence: int,
        job: str,
        source: str,
        revision: str = "",
        rank: str = "",
        action: Action = "compile",
        idempotency_key: str = "",
        trace: str = "",
    ) -> Accepted:
        """Give a save that is stored under the reserved `sequence` its place in the document's order. `job`: of
        `new_id`. `rank`: by which revisions of `source` sort, "" where they have no order: then only equal ones are
        told apart."""
        timing = self.timing
        answer, found, place = self.transition(
            "accept",
            (document, str(sequence), job, source, revision, rank, action, trace, idempotency_key),
            (timing.quiet, timing.longest_wait, timing.keep_once, timing.keep_job),
        )
        return Accepted(cast("Acceptance", answer), found, int(place or 0))

    def recompile(
        self, document: str, bulk: str = "", job_class: JobClass = "bulk", trace: str = ""
    ) -> Message | NotRecompiled:
        """The newest accepted save again, as its next round."""
        answer, *message = self.transition("recompile", (document, new_id(), job_class, bulk, trace))
        if answer != "sent":
            return cast("NotRecompiled", answer)
        return Message(message[0], cast("Stage", message[1]), cast("JobClass", message[2]))

    def again(self, document: str, *, trace: str = "", idempotency_key: str = "") -> Again:
        """The newest accepted save again, because somebody asks for it, as an interactive job."""
        texts = (document, new_id(), trace, idempotency_key)
        answer, *found = self.transition("again", texts, (self.timing.keep_once,))
        if answer == "unknown":
            return Again("unknown")
        return Again(cast("Literal['sent', 'running', 'repeated']", answer), found[0], int(found[1] or 0))

    def claim(self, most: int = 100) -> list[Message]:
        """Begin the jobs of documents whose quiet time is over; their first stages."""
        found = self.transition("claim", (), (most, self.timing.patience))
        return [
            Message(job, cast("Stage", stage), cast("JobClass", job_class))
            for job, stage, job_class, _ in in_fours(found)
        ]

    # --------------------------------------------------------------------------------------------- stages

    def begin(self, job: str, stage: Stage, worker: str) -> Begun:
        """Raises LedgerCorrupt."""
        token = secrets.token_hex(16)
        timing = self.timing
        numbers = (timing.lease, timing.most_attempts, timing.keep_job)
        return begun_of(self.transition("begin", (job, stage, token, worker), numbers), stage, token)

    def take(self, stage: Stage, taking: Taking) -> Begun | None:
        """Begin what is next now. Raises LedgerCorrupt."""
        texts = (stage, str(self.timing.keep_job), *self._wanted(taking))
        taking.answer = self.transition("take", texts)
        return taking.begun(stage)

    def _wanted(self, taking: Taking | None) -> tuple[str, ...]:
        if taking is None or not taking.queues:
            return ()
        timing = self.timing
        return (taking.token, taking.worker, str(timing.lease), str(timing.most_attempts), *taking.queues)

    def heartbeat(self, lease: Lease) -> Beat:
        answer = self.transition("heartbeat", (lease.job.id, lease.token), (self.timing.lease,))
        return cast("Beat", answer[0])

    def advance(
        self, lease: Lease, stage: Stage, note: str, row: Row | None = None, taking: Taking | None = None
    ) -> Message | None:
        """The stage is done and `stage` is next. `row`: of the document in the project (see `index`). `taking`: begin
        what is next on some queues in the same step. None: the lease is lost, or the job no longer wanted."""
        texts = (lease.job.id, lease.token, stage, note, "" if row is None else row_text(row))
        answer = self._step("advance", texts, taking)
        return Message(lease.job.id, stage, lease.job.job_class) if answer == "sent" else None

    def complete(self, lease: Lease, outcome: Outcome, detail: str, taking: Taking | None = None) -> bool:
        """The job has ended; `detail` is JSON. `taking`: as for `advance`. False: the lease is lost, and whoever has it
        now will end the job."""
        return self._step("complete", (lease.job.id, lease.token, outcome, detail), taking) == "ended"

    def _step(self, name: str, texts: Sequence[str], taking: Taking | None) -> str:
        answer, *taken = self.transition(name, (*texts, str(self.timing.keep_job), *self._wanted(taking)))
        if taking is not None:
            taking.answer = taken
        return answer

    def release(self, lease: Lease, cause: str, delay_ms: int) -> bool:
        """The attempt failed for a reason of ours. True: it was the last one, and the job is dead."""
        timing = self.timing
        numbers = (delay_ms, timing.most_attempts, timing.keep_job)
        return self.transition("release", (lease.job.id, lease.token, cause), numbers)[0] == "dead"

    def hand_back(self, lease: Lease) -> bool:
        """The worker is asked to end: the attempt does not count, and another one is to run the stage now. False: the
        lease is lost."""
        return self.transition("hand_back", (lease.job.id, lease.token))[0] == "sent"

    # ------------------------------------------------------------------------------------------ what was lost

    def reconcile(self, most: int = 100) -> list[tuple[Message, str]]:
        """The stages that were put on their queues again, each with its reason: `lease`, `message` or `retry`."""
        timing = self.timing
        found = self.transition("reconcile", (), (most, timing.message_lost, timing.most_attempts, timing.keep_job))
        return [
            (Message(job, cast("Stage", stage), cast("JobClass", job_class)), reason)
            for job, stage, job_class, reason in in_fours(found)
        ]

    def recorded(self, job: str, ended_ms: int) -> bool:
        """The store has been told. False: the job has ended once more, and the store is to be told again."""
        return bool(self._run_number("recorded", (job,), (ended_ms,)))

    def replay(self, job: str) -> Message | None:
        """A dead job again, from the stage where it died. None: it is not among the dead."""
        found = self.transition("replay", (job,), ())
        return Message(found[0], cast("Stage", found[1]), cast("JobClass", found[2])) if found else None

    def drop(self, job: str) -> bool:
        """Give a dead job up. False: it is not among the dead."""
        return bool(self._run_number("drop", (job,), (self.timing.keep_job,)))

    # ----------------------------------------------------------------------------------------------- project

    def index(self, document: str, sequence: int, name: str, calls: Sequence[str]) -> bool:
        """Put the document's row into the project. True: its name or calls changed. A newer save's row stays."""
        row = row_text(Row(sequence, name, tuple(calls)))
        return bool(self._run_number("index", (document, str(sequence), row)))

    def forget(self, document: str, sequence: int) -> bool:
        """The save with this sequence retires the document: take its row out. False: there was none, or a newer."""
        return bool(self._run_number("forget", (document, str(sequence))))

    def project(self, known: str = "") -> Project | None:
        """The rows of all documents, of one moment. None: nothing has changed since the version `known`."""
        version, *rows = self.transition("project", (known,))
        if version == known:
            return None
        pairs = zip(rows[::2], rows[1::2], strict=True)
        return Project(version, {document: row_of(document, text) for document, text in pairs})

    # -------------------------------------------------------------------------------------------------- rate

    def rate(self, key: str, per_minute: int, burst: int) -> int:
        """Take one of the tokens of `key`, of which `burst` are there at first and `per_minute` come back. 0: taken;
        otherwise the ms after which to ask again."""
        return self._run_number("rate", (key, repr(60_000 / per_minute)), (burst,))

    # -------------------------------------------------------------------------------------------- plumbing

    def _answer(self, name: str, texts: Sequence[str], numbers: Sequence[int]) -> object:
        try:
            return cast("object", self._scripts[name](keys=[self._prefix], args=[*texts, *numbers]))
        except ResponseError as error:
            code, _, detail = str(error).partition(" ")
            if code == "UNOPENED":
                raise LedgerLost(self._prefix) from None
            if code == "OTHERLAYOUT":
                raise self._other_version(detail) from None
            raise

    def transition(self, name: str, texts: Sequence[str], numbers: Sequence[int] = ()) -> list[str]:
        """The answer of `lua/NAME.lua`. Raises LedgerLost, LedgerVersion, RedisError."""
        return cast("list[str]", self._answer(name, texts, numbers))

    def _run_number(self, name: str, texts: Sequence[str], numbers: Sequence[int] = ()) -> int:
        return cast("int", self._answer(name, texts, numbers))


def new_id() -> str:
    """A job's id: sorts by the time when it was made (to the ms), and cannot be guessed."""
    return f"{clock.now_ms():011x}{secrets.token_hex(8)}"


def in_fours(parts: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Raises LedgerCorrupt."""
    if len(parts) % 4:
        raise LedgerCorrupt(f"a transition answered {len(parts)} values, not fours")
    for index in range(0, len(parts), 4):
        yield parts[index], parts[index + 1], parts[index + 2], parts[index + 3]
