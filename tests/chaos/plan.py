"""What a run is to do, all of it drawn from one seed: who saves what when, and what is broken when."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from workers.ledger.records import STAGES

from .s3_proxy import Kind

Sender = Literal["webhook", "api"]
Off = Literal["", "reconciler", "compare", "idempotency"]

SENDERS: Final[tuple[Sender, ...]] = ("webhook", "api")
CLOCK_OFF_S: Final = 30
OVER_S: Final = 130.0
WITHIN_S: Final = 300.0
PROCESSES: Final = (*STAGES, "dispatcher", "server")

_TOOLS: Final = ("slack の notify", "slack の history (read-only)", "なし", "sandbox")
_FAILING_TOOL: Final = "slakc の notify"
_FAILING: Final = 0.03
_REPLAYED: Final = 0.05
_LONGEST_SESSION: Final = 6


@dataclass(frozen=True, slots=True)
class Plan:
    """How much of everything. `over_s`: saves and faults come within this time, the rest is for what they leave.
    `off`: what is switched off in all processes. `at_fault`: end with the first thing that is wrong."""

    seed: int
    saves: int = 2_000
    documents: int = 300
    over_s: float = OVER_S
    within_s: float = WITHIN_S
    worker_kills_a_stage: int = 3
    child_kills_a_stage: int = 8
    dispatcher_kills: int = 5
    server_kills: int = 5
    redis_restarts: int = 5
    wipes: int = 1
    dropped: int = 50
    doubled: int = 50
    s3: tuple[tuple[Kind, int], ...] = (
        ("500-before", 30),
        ("500-after", 20),
        ("503", 25),
        ("slow", 20),
        ("overtaken", 10),
    )
    off: Off = ""
    at_fault: bool = False

    def wrong_clock(self) -> tuple[str, int]:
        """Whose clock is off, and by how much."""
        chosen = random.Random(f"{self.seed} clock")
        return chosen.choice(PROCESSES), chosen.choice((-CLOCK_OFF_S, CLOCK_OFF_S))


@dataclass(frozen=True, slots=True)
class Message:
    """One save as a source sends it, however often: `identity` stays. `at`: seconds after the beginning.

    `replay`: seconds after its answer when it is sent once more, 0 never.
    """

    identity: str
    sender: Sender
    document: str
    revision: int
    text: str
    at: float
    replay: float = 0.0


@dataclass(slots=True)
class Texts:
    """The saves of all documents. Not for several threads at once."""

    seed: int
    documents: tuple[str, ...]
    _random: random.Random = field(init=False)
    _revisions: dict[tuple[Sender, str], int] = field(default_factory=dict)
    _made: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(f"{self.seed} texts")

    def message(self, document: str, at: float) -> Message:
        """The document's next save, by either source."""
        chosen = self._random
        sender = chosen.choice(SENDERS)
        revision = self._revisions[sender, document] = self._revisions.get((sender, document), 0) + 1
        self._made += 1
        failing = chosen.random() < _FAILING
        phases = (
            f"## フェーズ {number}: 仕事 {number} (使う道具: {_FAILING_TOOL if failing else chosen.choice(_TOOLS)})\n\n"
            f"{self._made} 番目の保存の {number} つ目を処理する。\n"
            for number in range(1, chosen.randint(1, 3) + 1)
        )
        text = f"# {document} の手順\n\n" + "\n".join(phases)
        replay = chosen.uniform(0.5, 6) if chosen.random() < _REPLAYED else 0.0
        return Message(f"msg_{self.seed}_{self._made}", sender, document, revision, text, at, replay)


def documents_of(plan: Plan) -> tuple[str, ...]:
    return tuple(f"手順書/{number % 7}/{number:04}.md" for number in range(plan.documents))


def saves_of(plan: Plan, texts: Texts) -> Iterator[Message]:
    """Of every document at least one; people save in sessions, several times within seconds."""
    chosen = random.Random(f"{plan.seed} saves")
    left = plan.saves
    fresh = list(texts.documents)
    chosen.shuffle(fresh)
    while left > 0:
        document = fresh.pop() if fresh else chosen.choice(texts.documents)
        at = chosen.uniform(0, plan.over_s)
        for _ in range(min(left, chosen.randint(1, _LONGEST_SESSION))):
            yield texts.message(document, at)
            at = min(plan.over_s, at + chosen.expovariate(2))
            left -= 1


# ------------------------------------------------------------------------------------------------------- faults


class Blow(NamedTuple):
    """`what`: worker | child | dispatcher | server | redis | wipe | s3; `whom`: a stage, or a kind of S3's faults."""

    at: float
    what: str
    whom: str = ""


def blows_of(plan: Plan) -> list[Blow]:
    """In the order in which they come. Redis is wiped in the middle; before that, while no work has piled up, what is
    published slowly may be overtaken."""
    chosen = random.Random(f"{plan.seed} blows")
    wanted = [
        *(("worker", stage) for stage in STAGES for _ in range(plan.worker_kills_a_stage)),
        *(("child", stage) for stage in STAGES for _ in range(plan.child_kills_a_stage)),
        *(("dispatcher", "") for _ in range(plan.dispatcher_kills)),
        *(("server", "") for _ in range(plan.server_kills)),
        *(("redis", "") for _ in range(plan.redis_restarts)),
        *(("s3", kind) for kind, count in plan.s3 for _ in range(count)),
    ]
    blows = [
        Blow(chosen.uniform(0.03, 0.4 if whom == "overtaken" else 1) * plan.over_s, what, whom) for what, whom in wanted
    ]
    blows += [Blow(chosen.uniform(0.45, 0.6) * plan.over_s, "wipe") for _ in range(plan.wipes)]
    return sorted(blows)
