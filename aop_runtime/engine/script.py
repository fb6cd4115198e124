"""The scripted model: a YAML file of turns instead of a language model, for tests, demonstrations and offline trials.

    version: 1
    phases:
      "1":
        - calls:
            - {tool: read_sheet_values, arguments: {range: A1}}
        - expect: 競合の一覧
          say: 調べる会社は 3 社です。
    called:
      データの品質点検: {phases: {"": [{say: 正常}]}}

A phase is named by its number, the only one of a document without phases by "". `expect`: a part of what was sent to
the model last, so that a script ends in an error when a run goes another way. An argument `{$match: PATTERN}` is the
first group of a regular expression over the results of the last calls.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final, Literal, Self

import regex
import yaml
from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError, model_validator
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from aop_runtime.faults import Fault

MAX_FILE: Final = 4 * 1024 * 1024
_MATCH_S: Final = 1.0


class ScriptFault(Fault):
    """A script is unreadable, or the run went another way than it. The message says where."""


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ScriptedCall(_Closed):
    tool: Annotated[str, StringConstraints(max_length=200)]
    arguments: dict[str, JsonValue] | str = Field(default_factory=dict)


class Turn(_Closed):
    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    expect: str = ""

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.say and not self.calls:
            raise ValueError("a turn has say, calls, or both")
        return self


class Script(_Closed):
    phases: dict[str, tuple[Turn, ...]]
    called: dict[str, Script] = Field(default_factory=dict)

    def model(self, phase: str) -> Model:
        """Plays the turns of one phase: the next one each time that it is asked."""
        turns = self.phases.get(phase, ())

        def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            turn = sum(isinstance(message, ModelResponse) for message in messages)
            where = f"script, phase {phase or '(the document)'}, turn {turn + 1}"
            if turn >= len(turns):
                raise ScriptFault(f"{where}: the script has {len(turns)} turns, and the run goes on")
            return _played(turns[turn], _last(messages), where)

        return FunctionModel(play, model_name="script")


class _File(Script):
    version: Literal[1]


def _played(turn: Turn, last: ModelRequest | None, where: str) -> ModelResponse:
    sent = "\n".join(_texts(last))
    if turn.expect and turn.expect not in sent:
        raise ScriptFault(f"{where}: expected {turn.expect!r} in what was sent last, which begins {sent[:300]!r}")
    parts: list[TextPart | ToolCallPart] = [TextPart(turn.say)] if turn.say else []
    for call in turn.calls:
        arguments = call.arguments if isinstance(call.arguments, str) else _filled(call.arguments, sent, where)
        parts.append(ToolCallPart(call.tool, arguments))  # type: ignore[arg-type]  # JSON by another name
    return ModelResponse(parts, usage=RequestUsage(input_tokens=len(sent), output_tokens=len(turn.say)))


def _last(messages: list[ModelMessage]) -> ModelRequest | None:
    return next((message for message in reversed(messages) if isinstance(message, ModelRequest)), None)


def _texts(request: ModelRequest | None) -> list[str]:
    parts = [] if request is None else request.parts
    return [str(part.content) for part in parts if isinstance(part, UserPromptPart | ToolReturnPart)]


def _filled(value: JsonValue, sent: str, where: str) -> JsonValue:
    if isinstance(value, list):
        return [_filled(entry, sent, where) for entry in value]
    if not isinstance(value, dict):
        return value
    if list(value) != ["$match"]:
        return {name: _filled(entry, sent, where) for name, entry in value.items()}
    pattern = str(value["$match"])
    try:
        found = regex.search(pattern, sent, timeout=_MATCH_S)
    except (regex.error, TimeoutError) as error:
        raise ScriptFault(f"{where}: the pattern {pattern!r} cannot be used ({error})") from error
    if found is None or found.lastindex is None:
        raise ScriptFault(f"{where}: no group of {pattern!r} in what was sent last")
    return str(found[1])


def read_script(path: Path) -> Script:
    """Raises ScriptFault."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ScriptFault(f"{path}: {error.strerror}") from error
    if len(raw) > MAX_FILE:
        raise ScriptFault(f"{path}: {len(raw)} bytes; a script has at most {MAX_FILE}")
    try:
        text = raw.decode()
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise ScriptFault(f"{path}: aliases (*name) are not accepted in a script")
        return _File.model_validate(yaml.safe_load(text))
    except UnicodeDecodeError as error:
        raise ScriptFault(f"{path}: not UTF-8") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        raise ScriptFault(f"{path}{line}: not YAML: {getattr(error, 'problem', None) or 'unreadable'}") from error
    except RecursionError as error:
        raise ScriptFault(f"{path}: nested too deeply") from error
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        raise ScriptFault(f"{path}: {'.'.join(map(str, fault['loc'])) or 'the file'}: {fault['msg']}") from error
