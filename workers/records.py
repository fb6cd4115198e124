"""What lives in the artifact store beside artifacts: the truth that outlives Redis. One JSON a pointer.

`schema` is 1. Fields that this version does not know are ignored when reading, since two versions run side by side
during an upgrade; values that it does not know are refused.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self, TypeAlias, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.diagnostics.lang import Lang
from pipeline.result import ResultDict
from workers.ledger.records import Action, JobClass, Stage

SCHEMA: Final = 1

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
MaybeDigest = Annotated[str, Field(pattern=r"^([0-9a-f]{64})?$")]
"""\"\" where there is none."""
JobId = Annotated[str, Field(pattern=r"^[0-9a-f]{27}$")]
Count = Annotated[int, Field(ge=0)]
SequenceNumber = Annotated[int, Field(ge=1, lt=10**12)]
Status: TypeAlias = Literal["succeeded", "failed", "superseded", "dead", "retired"]


class RecordCorrupt(Exception):
    """A pointer holds what no version of aop writes. The message names it and the field."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}")
        self.name = name


class Part(BaseModel):
    """Immutable. Strict: a number is no text."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True, serialize_by_alias=True, populate_by_name=True)


class Record(Part):
    """What a pointer or a blob holds."""

    format: Annotated[Literal[1], Field(alias="schema")] = SCHEMA

    def to_bytes(self) -> bytes:
        return self.model_dump_json().encode()

    @classmethod
    def from_bytes(cls, data: bytes, name: str) -> Self:
        """`name`: of the pointer, for the message. Raises RecordCorrupt."""
        try:
            return cls.model_validate_json(data)
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            place = ".".join(map(str, first["loc"]))
            raise RecordCorrupt(name, f"{place}: {first['msg']}" if place else first["msg"]) from None


class Installation(Record):
    """Made once, when the store is first used. `id`: random."""

    id: str


class S3Reference(Part):
    """An object's version. `version_id` and `etag`: "" where the bucket or the notification has none."""

    kind: Literal["s3"] = "s3"
    bucket: str
    key: str
    version_id: str = ""
    etag: str = ""


class GithubReference(Part):
    """A file of a commit. `repository`: OWNER/NAME."""

    kind: Literal["github"] = "github"
    repository: str
    commit: str
    path: str


Reference = Annotated[S3Reference | GithubReference, Field(discriminator="kind")]


class Save(Record):
    """An accepted save. `text`: its blob, "" where it lies at `reference` or there is none (a retirement).

    `rank`: by which revisions of `source` sort, "" where they have no order. `bytes`: of the text, 0 where unknown.
    """

    document: str
    sequence: SequenceNumber
    source: str
    revision: str = ""
    rank: str = ""
    action: Action = "compile"
    text: MaybeDigest = ""
    reference: Reference | None = None
    bytes: Count = 0
    idempotency_key: str = ""
    job: JobId
    trace: str = ""
    received_ms: Count


class StageLine(Part):
    """What became of one stage (R3)."""

    stage: str
    phase: int | None
    outcome: str
    reason: str


class Outcome(Record):
    """What became of a save (`round` 0) or of its compile again. `output`: the blob of an `Output`, "" where there is
    none; `text`, `catalog`: what was compiled, "" where it did not come to that. `tools`: what the procedure may use.
    `errors`, `warnings`: counts. `cause`: why it is dead. `bulk`: the recompile that it belongs to, "" none."""

    document: str
    sequence: SequenceNumber
    round: Count = 0
    job: JobId
    job_class: JobClass = "interactive"
    status: Status
    at_ms: Count
    text: MaybeDigest = ""
    name: str = ""
    kind: str | None = None
    calls: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    errors: Count = 0
    warnings: Count = 0
    catalog: MaybeDigest = ""
    output: MaybeDigest = ""
    cause: str = ""
    stages: tuple[StageLine, ...] = ()
    bulk: str = ""

    @property
    def order(self) -> tuple[int, int]:
        """A greater one may replace this one, never the other way round."""
        return (self.sequence, self.round)


class Published(Outcome):
    """The outcome that everybody gets to see. `retired`: the document is no longer there."""

    retired: bool = False

    @property
    def outcome(self) -> Outcome:
        return Outcome(**{name: getattr(self, name) for name in Outcome.model_fields})


class DeadLetter(Record):
    """A job that used up its attempts at `stage`, and waits for a person."""

    job: JobId
    document: str
    sequence: SequenceNumber
    round: Count = 0
    job_class: JobClass = "interactive"
    stage: Stage
    cause: str = ""
    at_ms: Count


class Output(Record):
    """One blob: what a compile made. `result` is O2 with no diagnostics; they are in `diagnostics`, by language."""

    files: dict[str, str]
    result: dict[str, object]
    diagnostics: dict[Lang, list[dict[str, object]]]


def result_of(output: Output, lang: Lang) -> ResultDict:
    """O2's result, with the diagnostics in that language."""
    filled = {**output.result, "diagnostics": output.diagnostics.get(lang, [])}
    return cast("ResultDict", filled)
