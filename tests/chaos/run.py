"""One run: an installation, those who save, what befalls it, and what must be true in the end."""

from __future__ import annotations

import itertools
import json
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from redis.exceptions import RedisError

from workers.ledger.records import STAGES, LedgerLost
from workers.queues import QUEUES, queue_key

from . import checks
from .blows import Blows
from .installation import PREFIX, Installation
from .observer import Observer
from .plan import Plan, Texts, blows_of, documents_of, saves_of
from .queue_faults import QueueFaults
from .senders import Senders

STALLED_S: Final = 30.0
"""Nothing has moved for so long: more than three times what a lost message or lease takes."""
_REPORT_S: Final = 10.0
_NUDGE_S: Final = 0.5
_SHOWN: Final = 30


@dataclass(slots=True)
class Verdict:
    plan: Plan
    tally: dict[str, object] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    took_s: float = 0.0

    def text(self) -> str:
        width = max(map(len, self.tally), default=0)
        lines = [f"chaos: seed {self.plan.seed}" + (f", without {self.plan.off}" if self.plan.off else "")]
        lines += [f"  {name:<{width}}  {value}" for name, value in self.tally.items()]
        shown = self.faults[:_SHOWN]
        lines += [f"  WRONG: {fault}" for fault in shown]
        if len(self.faults) > len(shown):
            lines.append(f"  … and {len(self.faults) - len(shown)} more")
        lines.append(f"chaos: {'nothing lost, nothing wrong' if not self.faults else f'{len(self.faults)} wrong'}")
        return "\n".join(lines)


def run(plan: Plan, say: Callable[[str], None], folder: Path | None = None) -> Verdict:
    """`folder`: where logs and data stay; None: nowhere."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="aop-chaos-", ignore_cleanup_errors=True) as made:
            return run(plan, say, Path(made))
    whose, by_s = plan.wrong_clock()
    own: dict[str, dict[str, str]] = {"verify": {"AOP_CONCURRENCY": "3"}}  # one may be held back for long
    own.setdefault(whose, {})["CHAOS_CLOCK_S"] = str(by_s)
    with Installation(folder, seed=plan.seed, s3=True, own=own, settings={"CHAOS_OFF": plan.off}) as installation:
        installation.start(*STAGES, "dispatcher", "server")
        return _Run(plan, installation, say).run()


class _Run:
    def __init__(self, plan: Plan, installation: Installation, say: Callable[[str], None]) -> None:
        self._plan = plan
        self._installation = installation
        self._say = say
        documents = documents_of(plan)
        self._texts = Texts(plan.seed, documents)
        self._observer = Observer(installation.new_archive(), documents)
        self._senders = Senders(installation.url, installation.token)
        self._blows = Blows(installation, blows_of(plan), plan.seed)
        wanted = {"dropped": plan.dropped, "doubled": plan.doubled}
        self._queues = QueueFaults(installation.redis, PREFIX, wanted, plan.over_s, plan.seed)
        self._begun = time.monotonic()
        self._phases: dict[str, float] = {}
        self._nudged = 0.0
        self._drawing = threading.Lock()

    def run(self) -> Verdict:
        for message in saves_of(self._plan, self._texts):
            self._senders.add(message)
        proxy = self._installation.proxy
        assert proxy is not None
        proxy.published = self._observer.hint
        proxy.holding = self._overtake
        parts = (self._observer, self._senders, self._blows, self._queues)
        self._begun = time.monotonic()
        for part in parts:
            part.start()
        try:
            faults = self._wait()
        finally:
            for part in (self._blows, self._queues, self._senders, self._observer):
                part.stop()
        return self._judge(faults)

    def _overtake(self, digest: str) -> None:
        """A document's pointer is being written, slowly: it is saved again meanwhile."""
        self._save_now(self._observer.by_hash[digest])

    def _passed(self) -> float:
        return time.monotonic() - self._begun

    def _wait(self) -> list[str]:
        """Until all was sent and dealt and has come to rest; what kept it from that."""
        still: tuple[object, float] = (None, self._passed())
        told = 0.0
        while True:
            state = self._state()
            if state != still[0]:
                still = (state, self._passed())
            if self._passed() - told > _REPORT_S:
                told = self._passed()
                self._say(f"{told:4.0f} s: {state}")
            if self._plan.at_fault and self._is_wrong():
                return []
            self._nudge()
            if self._over() and "sent" not in self._phases:
                self._phases["sent"] = self._passed()
            if self._over() and self._rests():
                self._phases["rests"] = self._passed()
                return []
            if self._over() and self._passed() - still[1] > STALLED_S:
                return [f"nothing has moved for {STALLED_S:.0f} s"]
            if self._passed() > self._plan.within_s:
                return [f"not at rest after {self._plan.within_s:.0f} s: {state}"]
            time.sleep(0.25)

    def _over(self) -> bool:
        proxy = self._installation.proxy
        held = proxy is not None and len(proxy.faults.waiting) > 0
        return not (self._senders.left() or self._blows.left() or held) and self._queues.is_done()

    def _nudge(self) -> None:
        """All was sent, and some faults found nothing to befall: somebody saves once more."""
        quiet = not (self._senders.left() or self._blows.left() or self._over())
        if quiet and self._passed() - self._nudged > _NUDGE_S:
            self._nudged = self._passed()
            self._save_now(self._texts.documents[int(self._nudged) % len(self._texts.documents)])

    def _save_now(self, document: str) -> None:
        with self._drawing:
            message = self._texts.message(document, self._senders.now())
        self._senders.add(message)

    def _state(self) -> dict[str, object]:
        sent = {"to send": self._senders.left(), "blows": self._blows.left()}
        try:
            ledger = self._installation.ledger
            totals = {f"{name} in all": count for name, count in ledger.totals().items()}
            return {**sent, **ledger.depths(), "queued": self._queued(), **totals}
        except (RedisError, LedgerLost):
            return {**sent, "redis": "does not answer"}

    def _queued(self) -> int:
        return sum(int(self._installation.redis.llen(queue_key(PREFIX, queue))) for queue in QUEUES)

    def _rests(self) -> bool:
        try:
            depths = self._installation.ledger.depths()
            waiting = sum(count for place, count in depths.items() if place != "dead") + self._queued()
            return waiting == 0 and not self._installation.ledger.unrecorded()
        except (RedisError, LedgerLost):
            return False

    def _is_wrong(self) -> bool:
        return bool(self._observer.went_back or self._several_jobs())

    def _several_jobs(self) -> list[str]:
        given = dict(self._senders.answers.given)
        return [
            f"{identity}: one message, several jobs: {sorted(answers)}"
            for identity, answers in given.items()
            if len({answer.job for answer in answers}) > 1
        ]

    # ------------------------------------------------------------------------------------------------- judging

    def _judge(self, faults: list[str]) -> Verdict:
        verdict = Verdict(self._plan, faults=faults)
        installation, answers = self._installation, self._senders.answers
        verdict.faults += self._blows.troubles
        verdict.faults += [f"an older save replaced a newer one: {text}" for text in self._observer.went_back]
        if self._plan.at_fault and self._is_wrong():
            verdict.faults += self._several_jobs()
        else:
            found = checks.read_all(installation.archive, self._texts.documents)
            verdict.faults += checks.faults_of_answers(answers, found)
            verdict.faults += checks.faults_of_documents(installation.archive, answers, found)
            verdict.faults += checks.faults_of_ledger(installation)
        verdict.took_s = self._passed()
        verdict.tally = self._tally(verdict.took_s)
        self._keep_answers()
        verdict.faults += self._not_enough()
        return verdict

    def _keep_answers(self) -> None:
        """Beside the logs, for whoever asks why."""
        answers = self._senders.answers
        lines = (
            {"message": asdict(message), "answers": answers.given.get(identity, [])}
            for identity, message in answers.sent.items()
        )
        text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        (self._installation.folder / "answers.jsonl").write_text(text)

    def _tally(self, took_s: float) -> dict[str, object]:
        plan, blows, answers = self._plan, self._blows, self._senders.answers
        whose, by_s = plan.wrong_clock()
        proxy = self._installation.proxy
        assert proxy is not None
        accepted = [given for given in answers.given.values() if given]
        late = sum(given[0].status == "superseded" for given in accepted)
        return {
            "saves": f"{len(answers.sent)} of {plan.documents} documents, {_counted(Counter(_senders(answers)))}",
            "accepted": f"{len(accepted)}, {late} of them late; {sum(map(len, accepted)) - len(accepted)} replays",
            "sent again": _counted(answers.failed),
            "worker processes killed": f"{self._killed()}: {_counted(_only(blows.done, 'worker', 'child'))}",
            "dispatcher, server killed": f"{blows.done['dispatcher']}, {blows.done['server']}",
            "Redis restarted, wiped": f"{blows.done['redis']}, {blows.done['wipe']}",
            "messages": _counted(self._queues.done),
            "S3": f"{proxy.faults.done.total()}: {_counted(proxy.faults.done)} ({proxy.faults.overtaken} were)",
            "clock": f"{whose} is off by {by_s} s",
            "ended by themselves": _counted(blows.restarted) or "nobody",
            "jobs": _counted(self._totals()),
            "attempts beyond one a stage": _counted(checks.attempts_of(self._installation)),
            "messages of dead workers": f"{self._unacknowledged()}, of jobs that have ended",
            "seen by the observer": f"{self._observer.moves} moves in {self._observer.looks} looks",
            "seconds": ", ".join([*(f"{name} {at:.0f}" for name, at in self._phases.items()), f"all {took_s:.0f}"]),
        }

    def _totals(self) -> dict[str, int]:
        try:
            return dict(self._installation.ledger.totals())
        except (RedisError, LedgerLost):
            return {}

    def _unacknowledged(self) -> int:
        """Celery offers them again after the visibility time-out, when they are refused."""
        return self._installation.redis.hlen(f"{PREFIX}:queue:unacked")

    def _killed(self) -> int:
        return sum(_only(self._blows.done, "worker", "child").values())

    def _not_enough(self) -> Iterable[str]:
        """A run that did not do what it is for proves nothing."""
        plan, blows = self._plan, self._blows
        proxy = self._installation.proxy
        if plan.at_fault or proxy is None:
            return
        wanted = len(STAGES) * (plan.worker_kills_a_stage + plan.child_kills_a_stage)
        counts = (
            ("worker processes killed", self._killed(), wanted),
            ("dispatchers killed", blows.done["dispatcher"], plan.dispatcher_kills),
            ("servers killed", blows.done["server"], plan.server_kills),
            ("restarts of Redis", blows.done["redis"], plan.redis_restarts),
            ("wipes of Redis", blows.done["wipe"], plan.wipes),
            ("messages dropped", self._queues.done["dropped"], plan.dropped),
            ("messages doubled", self._queues.done["doubled"], plan.doubled),
            ("faults of S3", proxy.faults.done.total(), sum(count for _, count in plan.s3)),
        )
        for what, count, least in counts:
            if count < least:
                yield f"only {count} {what}, of {least}"


def _senders(answers: object) -> list[str]:
    sent = getattr(answers, "sent", {})
    return [message.sender for message in sent.values()]


def _only(counts: Counter[str], *kinds: str) -> dict[str, int]:
    return {name: count for name, count in counts.items() if name.split()[0] in kinds}


def _counted(counts: object) -> str:
    items = counts.items() if isinstance(counts, dict) else ()
    return ", ".join(f"{count} {name}" for name, count in itertools.chain(sorted(items)))
