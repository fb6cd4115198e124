"""What happens in a run, as it is recorded and as `--format jsonl` prints it. One JSON object a line.

A later version may add fields and events; readers pass over what they do not know.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter

from aop_runtime.runs.envelopes import EnvelopeRecord
from aop_runtime.runs.folder import Changes

SCHEMA_VERSION: Final = 1


class _Event(BaseModel):
    """`sequence` from 1, without gaps. `at`: seconds since 1970. `active_s`: how long the run has been worked on."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    sequence: int = 0
    at: float = 0.0
    active_s: float = 0.0


class RunStarted(_Event):
    event: Literal["run-started"] = "run-started"
    version: int = SCHEMA_VERSION
    run: str
    procedure: str
    module_sha256: str
    model: str
    callers: tuple[str, ...] = ()


class RunResumed(_Event):
    event: Literal["run-resumed"] = "run-resumed"
    changes: Changes = Changes()


class PhaseStarted(_Event):
    event: Literal["phase-started"] = "phase-started"
    phase: int
    title: str


class ModelReplied(_Event):
    """`message`: the whole answer, as pydantic-ai writes it."""

    event: Literal["model-replied"] = "model-replied"
    phase: int
    turn: int
    message: JsonValue
    tokens: int = 0


class CallBegun(_Event):
    event: Literal["call-begun"] = "call-begun"
    call: str
    tool: str
    operation: str
    effect: Literal["read", "write"]
    arguments: JsonValue


class CallFinished(_Event):
    event: Literal["call-finished"] = "call-finished"
    call: str
    name: str
    envelope: EnvelopeRecord


class QuestionAsked(_Event):
    event: Literal["question-asked"] = "question-asked"
    id: str
    kind: Literal["approval", "question", "outcome"]
    text: str
    call: str
    address: str
    arguments: JsonValue = None
    choices: tuple[str, ...] = ()


class QuestionAnswered(_Event):
    event: Literal["question-answered"] = "question-answered"
    id: str
    verdict: Literal["yes", "no", "text"]
    text: str = ""
    by: str = ""


class Noted(_Event):
    event: Literal["noted"] = "noted"
    phase: int
    text: str


class PhaseFinished(_Event):
    event: Literal["phase-finished"] = "phase-finished"
    phase: int
    result: str


class RunWaiting(_Event):
    """Somebody is to answer `question`; then the run can be resumed."""

    event: Literal["run-waiting"] = "run-waiting"
    question: str


class RunFailed(_Event):
    """It can be resumed when the reason is gone. `message` in English, `message_ja` in Japanese."""

    event: Literal["run-failed"] = "run-failed"
    code: str
    message: str
    message_ja: str = ""

    def text(self, language: str) -> str:
        return self.message if language == "en" else self.message_ja or self.message


class RunCancelled(_Event):
    event: Literal["run-cancelled"] = "run-cancelled"


class RunFinished(_Event):
    event: Literal["run-finished"] = "run-finished"
    result: str


Event: TypeAlias = Annotated[
    RunStarted
    | RunResumed
    | PhaseStarted
    | ModelReplied
    | CallBegun
    | CallFinished
    | QuestionAsked
    | QuestionAnswered
    | Noted
    | PhaseFinished
    | RunWaiting
    | RunFailed
    | RunCancelled
    | RunFinished,
    Field(discriminator="event"),
]

_ADAPTER: Final[TypeAdapter[Event]] = TypeAdapter(Event)

KNOWN: Final = frozenset(
    kind.model_fields["event"].default
    for kind in (
        RunStarted,
        RunResumed,
        PhaseStarted,
        ModelReplied,
        CallBegun,
        CallFinished,
        QuestionAsked,
        QuestionAnswered,
        Noted,
        PhaseFinished,
        RunWaiting,
        RunFailed,
        RunCancelled,
        RunFinished,
    )
)


def read_event(value: object) -> Event | None:
    """None: an event of a later version. Raises pydantic.ValidationError."""
    kind = value.get("event") if isinstance(value, dict) else None
    if isinstance(kind, str) and kind not in KNOWN:
        return None
    return _ADAPTER.validate_python(value)
