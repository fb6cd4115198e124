"""What was measured: costs.json beside this module, written by `python -m bench.sizing measure`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from workers.ledger.records import STAGES, Stage

COSTS: Final = Path(__file__).with_name("costs.json")

Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Milliseconds = Amount
Kibibytes = Amount


class Closed(BaseModel):
    """No other fields, no change."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Machine(Closed):
    """Where, when and by what it was measured. `date`: ISO 8601."""

    date: str
    command: str
    cores: Annotated[int, Field(ge=1)]
    processor: str
    python: str


class StageCost(Closed):
    """Of one document: processor time of the worker's two processes and of an S3 server on the same machine, and what
    a hand-off takes beside it where nothing else runs: being woken, Redis's way, the store's disk."""

    parent_ms: Milliseconds
    child_ms: Milliseconds
    store_ms: Milliseconds
    pause_ms: Milliseconds


class Running(Closed):
    """A document through the service, with one kind of store. Processor time of each; `accept_`: of taking a save in,
    the rest of compiling it. `server_ms`: of the server, for a save over HTTP; `sender_ms`: without HTTP, as the
    bench sends. `rest_ms`: of all together, in a second in which
    nothing is to be done, with a tick of 10 ms."""

    stages: dict[Stage, StageCost]
    dispatcher_ms: Milliseconds
    redis_ms: Milliseconds
    server_ms: Milliseconds
    sender_ms: Milliseconds
    sender_pause_ms: Milliseconds
    accept_redis_ms: Milliseconds
    accept_store_ms: Milliseconds
    rest_ms: Milliseconds

    @property
    def workers_ms(self) -> float:
        return sum(cost.parent_ms + cost.child_ms for cost in self.stages.values())

    @property
    def document_ms(self) -> float:
        """Of everybody, from accepted to published."""
        store = sum(cost.store_ms for cost in self.stages.values())
        return self.workers_ms + self.dispatcher_ms + self.redis_ms + store


class Memory(Closed):
    """MB (PSS) of one process after work."""

    worker_parent: Amount
    worker_child: Amount
    dispatcher: Amount
    server: Amount


class RedisBytes(Closed):
    """What Redis keeps. `document`: for ever; `waiting_job`: beside it while a save is queued; `ended_job`: beside the
    document, until AOP_KEEP_JOBS_S is over, its idempotency key included."""

    empty: Amount
    document: Amount
    waiting_job: Amount
    ended_job: Amount


class Requests(Closed):
    """To S3. `listed`: keys that lists told, a thousand of them a request. `rounds`: how many requests come one after
    the other, those made at once counted as one; 0 where that was not counted."""

    get: Amount = 0
    put: Amount = 0
    listed: Amount = 0
    head: Amount = 0
    delete: Amount = 0
    rounds: Amount = 0


class S3Requests(Closed):
    """`save`: taking one in; `compile`: by stage, of a text that was never compiled; `unchanged`: by stage, of one that
    was. The rest: for each document that there is, with one save; `gc_save`, `reindex_save`: for each further save of
    it that is kept."""

    save: Requests
    compile: dict[Stage, Requests]
    unchanged: dict[Stage, Requests]
    plan: Requests
    gc: Requests
    gc_save: Requests
    reindex: Requests
    reindex_save: Requests


class Index(Closed):
    """Reading the project's index, for each document in it: Redis answers nobody else meanwhile. `reader_kib`: memory
    of whoever has read it."""

    redis_ms: Milliseconds
    reader_ms: Milliseconds
    reader_kib: Kibibytes


class Figures(Closed):
    """What the whole does on that machine, measured apart from the costs, for the simulation to reproduce. Each with
    the cores that other processes of the machine used meanwhile (`others`). Rates in documents a second."""

    through: Amount
    through_others: Amount
    sender: Amount
    sender_others: Amount
    through_s3: Amount
    through_s3_others: Amount
    idle_median_ms: Milliseconds
    idle_p95_ms: Milliseconds
    idle_others: Amount
    part_rate: Amount
    part_median_ms: Milliseconds
    part_others: Amount


class Costs(Closed):
    machine: Machine
    file: Running
    s3: Running
    memory: Memory
    redis: RedisBytes
    requests: S3Requests
    index: Index
    figures: Figures


def load(path: Path = COSTS) -> Costs:
    """Raises OSError, and ValidationError where a stage or a figure is missing."""
    costs = Costs.model_validate_json(path.read_bytes())
    for found in (costs.file.stages, costs.s3.stages, costs.requests.compile, costs.requests.unchanged):
        if set(found) != set(STAGES):
            raise ValueError(f"{path}: costs of {', '.join(STAGES)} are needed, not of {', '.join(found)}")
    return costs


def save(costs: Costs, path: Path = COSTS) -> None:
    """Rounded: more digits than were measured would make every run a change."""
    path.write_text(_rounded(costs).model_dump_json(indent=2) + "\n", encoding="utf-8")


def _rounded(costs: Costs) -> Costs:
    return Costs.model_validate(_round(costs.model_dump()))


def _round(value: object) -> object:
    if isinstance(value, dict):
        return {name: _round(part) for name, part in value.items()}
    return float(f"{value:.3g}") if isinstance(value, float) else value
