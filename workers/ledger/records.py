"""What the ledger answers: typed, and checked on the way in, since another version may have written it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias, TypedDict, cast, get_args

Stage = Literal["parse", "resolve", "generate", "verify"]
JobClass = Literal["interactive", "bulk"]
Action = Literal["compile", "retire"]
State = Literal[
    "queued", "parsing", "resolving", "generating", "verifying", "succeeded", "failed", "superseded", "dead"
]
DocumentState = Literal["accepted", "succeeded", "failed", "dead", "retired"]
Outcome = Literal["succeeded", "failed", "superseded"]

STAGES: Final[tuple[Stage, ...]] = get_args(Stage)
CLASSES: Final[tuple[JobClass, ...]] = get_args(JobClass)
ENDED: Final[frozenset[State]] = frozenset({"succeeded", "failed", "superseded", "dead"})

Reservation = Literal["reserved", "repeated"]
Acceptance = Literal["accepted", "repeated", "superseded", "outrun"]


@dataclass(frozen=True, slots=True)
class Reserved:
    """`reserved`: the document's next sequence, for a save that is not stored yet; `job` is "". `repeated`: the same
    save was accepted before, as this job."""

    answer: Reservation
    job: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """`job`, `sequence`: the save's own, but where it is `repeated`: the same save was accepted before, as this job.

    `superseded`: a newer save was accepted first, or this is an older revision of its source than one that was; it is
    not compiled. `outrun`: an older revision of its source was accepted with a greater sequence: it is to be stored
    and accepted again with a new one, and has no job yet.
    """

    answer: Acceptance
    job: str
    sequence: int


@dataclass(frozen=True, slots=True)
class Message:
    """A stage on its queue: the ledger has put it there in the step that made the stage the next one."""

    job: str
    stage: Stage
    job_class: JobClass

    @property
    def queue(self) -> str:
        return f"{self.stage}.{self.job_class}"


@dataclass(frozen=True, slots=True)
class Job:
    """A job as it is recorded. Times in ms since 1970 by the clock of Redis; None: not yet.

    `sequence`: of the save; `round`: 0 for its first compile, greater for those again. `notes`, by stage: JSON that
    the stage left for later ones. `took_ms`, by stage. `outcome`: JSON, "" before the end. `superseded`: the sequence
    that makes the job needless. `bulk`: the recompile that it belongs to, "" none.
    """

    id: str
    document: str
    sequence: int
    round: int
    job_class: JobClass
    action: Action
    source: str
    revision: str
    state: State
    stage: Stage
    attempts: int
    total_attempts: int
    created_ms: int
    claimed_ms: int | None
    ended_ms: int | None
    superseded: int | None
    cause: str
    outcome: str
    trace: str
    bulk: str
    notes: Mapping[Stage, str]
    took_ms: Mapping[Stage, int]


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run one stage of one job. `token` fences: whoever lost the lease can change nothing more.
    `catalog`: the digest of the one that was current when the stage began, "" where Redis does not know it."""

    job: Job
    stage: Stage
    token: str
    catalog: str = ""


Refusal = Literal["gone", "ended", "elsewhere", "leased", "superseded", "dead"]
"""Why a message runs nothing: the job is forgotten, has ended, is at another stage, is held by another worker, is no
longer wanted, or has used up its attempts. Each is the normal end of a message that came late or twice."""


@dataclass(frozen=True, slots=True)
class Again:
    """`job`, `sequence`: what compiles the document once more. `sent`: a job that begins; `running`: one that waits or
    runs already; `repeated`: what answered the same idempotency key before; `unknown`: none, as in NotRecompiled."""

    answer: Literal["sent", "running", "repeated", "unknown"]
    job: str = ""
    sequence: int = 0


NotRecompiled = Literal["busy", "unknown"]
"""`busy`: a job of the document waits or runs. `unknown`: no save of it was accepted, or the newest retires it."""

Begun: TypeAlias = "Lease | Refusal"
Beat = Literal["held", "lost", "superseded"]


@dataclass(frozen=True, slots=True)
class Document:
    """`sequence`, `action`: of the newest accepted save; `round`: of its newest compile. `published`,
    `published_round`: of what is published. `state`: of the newest compile that has ended; `accepted` before that."""

    id: str
    sequence: int
    action: Action
    round: int
    published: int
    published_round: int
    published_job: str
    state: DocumentState
    waiting: str
    running: str


@dataclass(frozen=True, slots=True)
class Row:
    """What the project knows of a document: its name, and the names of the AOPs that it calls."""

    sequence: int
    name: str
    calls: tuple[str, ...]


class Project(NamedTuple):
    """`version` changes whenever a row's name or calls do; it is only ever compared. `rows`, by document id."""

    version: str
    rows: Mapping[str, Row]


class SeenRevision(TypedDict):
    """The newest revision of a source that the store holds, and the save that brought it."""

    source: str
    revision: str
    rank: str
    sequence: int
    job: str


class OnceKey(TypedDict):
    """An idempotency key, the save that answered it, and how much longer to know it."""

    key: str
    job: str
    sequence: int
    keep_ms: int


class Facts(TypedDict):
    """What the store says of a document, for a ledger that may lack it. 0 and "" where there is nothing.

    `sequence`: the greatest of all saves; `accepted`: of the newest that counts, with its `action`, when it came, and
    its `job`, `source`, `revision` and `trace` where it has no outcome yet. `ended`: what `state` speaks of. `row`:
    of the index, as JSON. `forgotten`: the newest sequence that retired the document.
    """

    sequence: int
    round: int
    accepted: int
    accepted_ms: int
    action: Action
    job: str
    source: str
    revision: str
    trace: str
    published: int
    published_round: int
    published_job: str
    ended: int
    ended_round: int
    state: DocumentState | Literal[""]
    forgotten: int
    row: str
    revisions: list[SeenRevision]
    once: list[OnceKey]


@dataclass(frozen=True, slots=True)
class Event:
    """`id`: the stream's, for resuming after it. `detail`: a stage, or JSON where the job ended."""

    id: str
    job: str
    document: str
    event: str
    detail: str


class LedgerLost(Exception):
    """Redis holds no ledger: it was wiped, or replaced by an empty one. `aop admin reindex` rebuilds it; until then
    servers refuse and workers wait."""

    def __init__(self, prefix: str) -> None:
        super().__init__(f"Redis holds no ledger under {prefix!r}: rebuild it from the store (aop admin reindex)")


class LedgerVersion(Exception):
    """The ledger in this Redis belongs to another version of aop. The message says which, and what to do."""


class LedgerCorrupt(Exception):
    """A record is not what this version writes. The message names key and field."""


def row_text(row: Row) -> str:
    """Equal rows are written alike: the ledger compares texts."""
    return json.dumps([row.sequence, row.name, list(row.calls)], ensure_ascii=False, separators=(",", ":"))


def row_of(identity: str, text: str) -> Row:
    """Raises LedgerCorrupt."""
    try:
        sequence, name, calls = json.loads(text)
    except (ValueError, TypeError) as error:
        raise LedgerCorrupt(f"index: {identity} is {text!r:.80}, not a row ({error})") from None
    if type(sequence) is not int or type(name) is not str or type(calls) is not list:
        raise LedgerCorrupt(f"index: {identity} is {text!r:.80}, not a sequence, a name and calls")
    return Row(sequence, name, tuple(map(str, calls)))


def job_of(identity: str, fields: Mapping[str, str]) -> Job:
    """Raises LedgerCorrupt."""
    reader = _Reader(f"job:{identity}", fields)
    return Job(
        id=identity,
        document=reader.text("document"),
        sequence=reader.number("sequence"),
        round=reader.number("round"),
        job_class=cast("JobClass", reader.word("class", CLASSES)),
        action=cast("Action", reader.word("action", get_args(Action))),
        source=reader.text("source"),
        revision=reader.text("revision"),
        state=cast("State", reader.word("state", get_args(State))),
        stage=cast("Stage", reader.word("stage", STAGES)),
        attempts=reader.number("attempts"),
        total_attempts=reader.number("total_attempts"),
        created_ms=reader.number("created_ms"),
        claimed_ms=reader.maybe("claimed_ms"),
        ended_ms=reader.maybe("ended_ms"),
        superseded=reader.maybe("superseded"),
        cause=reader.text("cause"),
        outcome=reader.text("outcome"),
        trace=reader.text("trace"),
        bulk=reader.text("bulk"),
        notes={stage: fields[f"note:{stage}"] for stage in STAGES if f"note:{stage}" in fields},
        took_ms={stage: reader.number(f"took:{stage}") for stage in STAGES if f"took:{stage}" in fields},
    )


def document_of(identity: str, fields: Mapping[str, str]) -> Document:
    """Raises LedgerCorrupt."""
    reader = _Reader(f"doc:{identity}", fields)
    return Document(
        id=identity,
        sequence=reader.number("accepted"),
        action=cast("Action", reader.word("action", get_args(Action))),
        round=reader.maybe("round") or 0,
        published=reader.maybe("published") or 0,
        published_round=reader.maybe("published_round") or 0,
        published_job=reader.text("published_job"),
        state=cast("DocumentState", reader.word("state", get_args(DocumentState)) if "state" in fields else "accepted"),
        waiting=reader.text("waiting"),
        running=reader.text("running"),
    )


class _Reader:
    def __init__(self, key: str, fields: Mapping[str, str]) -> None:
        self._key = key
        self._fields = fields

    def text(self, field: str) -> str:
        return self._fields.get(field, "")

    def number(self, field: str) -> int:
        value = self._fields.get(field, "")
        if not value.isascii() or not value.isdigit():
            raise LedgerCorrupt(f"{self._key}: {field} is {value!r}, not a number")
        return int(value)

    def maybe(self, field: str) -> int | None:
        return self.number(field) if self._fields.get(field) else None

    def word(self, field: str, words: tuple[str, ...]) -> str:
        value = self._fields.get(field, "")
        if value not in words:
            raise LedgerCorrupt(f"{self._key}: {field} is {value!r}, not one of {', '.join(words)}")
        return value
