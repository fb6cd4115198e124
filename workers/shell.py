"""The shell around a stage: may it run, run it, and have the ledger know what came of it.

A message may be late, a duplicate, or forged: the ledger decides, and a refusal is a normal end. While the stage runs,
a heartbeat keeps its lease. Whatever happens then is recorded: the next stage, the outcome, or the cause of a failed
attempt with the time of the next one. What cannot even be recorded is left to the reconciler, which finds the lease
expired. Nothing is raised, but what ends the process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, TypeAlias, TypeVar

from billiard.exceptions import SoftTimeLimitExceeded

from workers.context import Context
from workers.faults import PAUSES, WAITED_FOR, cause_of, kind_of
from workers.fetching.faults import FetchError
from workers.heartbeat import Heart
from workers.ledger.records import Begun, Job, Lease, LedgerCorrupt, Stage
from workers.ledger.taking import Taking
from workers.logs import bound, get_logger
from workers.metrics import metrics
from workers.publishing import Ending
from workers.stages import generate, parse, resolve, verify
from workers.stages.step import Run, Step
from workers.tracing import Span, span, trace_of_job

RUNS: Final[Mapping[Stage, Run]] = {
    "parse": parse.run,
    "resolve": resolve.run,
    "generate": generate.run,
    "verify": verify.run,
}

_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 2.0

_log = get_logger(__name__)
_Answer = TypeVar("_Answer")


More: TypeAlias = Callable[[], Sequence[str]]
"""From which queues a worker goes on to take, () none."""

_FAILURES: Final = frozenset({"retry", "dead"})


def _span_of(lease: Lease) -> AbstractContextManager[Span]:
    job = lease.job
    return span(
        f"aop.{lease.stage}",
        trace_of_job(job.id, job.trace),
        "consumer",
        stage=lease.stage,
        job=job.id,
        document=job.document,
        sequence=job.sequence,
        round=job.round,
        job_class=job.job_class,
        attempt=job.attempts,
    )


@dataclass(frozen=True, slots=True)
class Shell:
    """`worker`: who holds the leases, for people."""

    context: Context
    heart: Heart
    worker: str
    runs: Mapping[Stage, Run] = field(default_factory=lambda: RUNS)

    def run(self, job: str, stage: Stage, more: More = lambda: ()) -> str:
        """The stage of that job; then of whatever is next on the queues that `more` names, past Celery, until it names
        none or there is nothing. A job is taken in the step in which the one before it goes on, if it does.

        Returns what came of the last one, for the metrics and tests: a refusal, `unanswered`, or an outcome of
        `aop_stage_seconds`. Raises only what ends the process, SystemExit and such.
        """
        with bound(stage=stage):
            outcome = "unanswered"
            begun = self._ask(lambda: self.context.ledger.begin(job, stage, self.worker))
            while begun is not None:
                taking = Taking(self.worker)
                outcome = self._work(begun, taking, more)
                begun = self._next(stage, taking, more)
            return outcome

    def _ask(self, begin: Callable[[], Begun | None]) -> Begun | None:
        try:
            return begin()
        except (*WAITED_FOR, LedgerCorrupt, SoftTimeLimitExceeded) as error:
            # Nothing was begun, or what was begun has a lease that ends: the message is sent again.
            _log.warning("ledger does not answer", cause=str(error))
            return None

    def _next(self, stage: Stage, taking: Taking, more: More) -> Begun | None:
        if taking.queues:  # it was asked for in the step before
            return self._ask(lambda: taking.begun(stage))
        taking.queues = more()
        return self._ask(lambda: self.context.ledger.take(stage, taking)) if taking.queues else None

    def _work(self, begun: Begun, taking: Taking, more: More) -> str:
        if not isinstance(begun, Lease):
            metrics.messages_refused.labels(begun).inc()
            _log.debug("message refused", reason=begun)
            return begun
        with bound(job=begun.job.id, document=begun.job.document), _span_of(begun) as traced:
            outcome = self._run(begun, taking, more)
            traced.set("aop.outcome", outcome)
            if outcome in _FAILURES:
                traced.fail(outcome)
            return outcome

    def _run(self, lease: Lease, taking: Taking, more: More) -> str:
        started = time.perf_counter()
        try:
            with self.heart.keeping(lease):
                outcome = self._attempt(lease, taking, more)
        except (SystemExit, KeyboardInterrupt):
            if time.perf_counter() - started < self.context.settings.soft_time_limit_s:
                self._hand_back(lease)
            else:
                # The hard limit ends this stage, which did not hear the soft one. Handed back, with its attempt not
                # counted, it would come again for ever.
                self._release(lease, SoftTimeLimitExceeded())
            raise
        except Exception as error:  # noqa: BLE001 - the soft time limit is raised anywhere, also while one recorded
            outcome = self._release(lease, error)
        metrics.stage_seconds.labels(lease.stage, outcome).observe(time.perf_counter() - started)
        return outcome

    def _attempt(self, lease: Lease, taking: Taking, more: More) -> str:
        try:
            step = self.runs[lease.stage](self.context, lease)
            taking.queues = more()
            return self._record(lease, step, taking)
        except Exception as error:  # noqa: BLE001 - a bug, too, is recorded and tried again, never lost
            return self._release(lease, error)

    def _record(self, lease: Lease, step: Step, taking: Taking) -> str:
        ledger = self.context.ledger
        if isinstance(step, Ending):
            ended = self._insist(lambda: ledger.complete(lease, step.outcome, step.detail, taking))
            if ended is None:
                return "lost"
            _log.info("job ended", outcome=step.record.status, sequence=step.record.sequence)
            return "ended" if ended else "lost"
        note = step.note.model_dump_json()
        message = self._insist(lambda: ledger.advance(lease, step.stage, note, step.row, taking))
        return self._after(lease.job) if message is None else "sent"

    def _after(self, job: Job) -> str:
        """The ledger did not take the step, or did not say so."""
        found = self._insist(lambda: self.context.ledger.job(job.id))
        if found is None or found.state != "superseded":
            return "lost"
        _log.info("job superseded", by=found.superseded)
        return "superseded"

    def _release(self, lease: Lease, error: Exception) -> str:
        kind, cause = kind_of(error), cause_of(error)
        # Raised in the middle of anything: what this process holds may be half done, and is opened anew.
        self.context.spoiled = self.context.spoiled or kind == "limit"
        pause = PAUSES[kind].after(lease.job.attempts)
        if isinstance(error, FetchError) and error.retry_after_s is not None:
            pause = max(pause, int(error.retry_after_s * 1_000))
        if kind == "bug":
            _log.error("stage failed: this is a bug of aop", cause=cause, exc_info=error)
        else:
            _log.warning("attempt failed", cause=cause, attempt=lease.job.attempts, pause_ms=pause)
        dead = self._insist(lambda: self.context.ledger.release(lease, cause, pause))
        return "lost" if dead is None else "dead" if dead else "retry"

    def _hand_back(self, lease: Lease) -> None:
        try:
            handed_back = self.context.ledger.hand_back(lease)
        except WAITED_FOR as error:
            _log.warning("job not handed back: it waits for its lease", cause=str(error))
            return
        if handed_back:
            _log.info("job handed back: the worker ends")

    def _insist(self, ask: Callable[[], _Answer]) -> _Answer | None:
        """Ask the ledger until it answers, at most as long as the lease is: then somebody else has the job. None: it
        did not answer."""
        end = time.monotonic() + self.context.ledger.timing.lease / 1_000
        pause = _PAUSE_S
        while True:
            try:
                return ask()
            except (*WAITED_FOR, LedgerCorrupt) as error:
                if time.monotonic() + pause > end:
                    _log.warning("ledger does not answer: the job waits for its lease", cause=str(error))
                    return None
            time.sleep(pause)
            pause = min(_LONGEST_PAUSE_S, pause * 2)
