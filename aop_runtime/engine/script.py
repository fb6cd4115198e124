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

A phase is named by its number, the only one of a document without phases by "". `expect`: a text, or `{matches:
PATTERN}`, that is in what was sent to the model last, so that a script ends in an error when a run goes another way.

Anywhere in the arguments, `{$match: PATTERN}` is the first group of a regular expression over what was sent last, and
`{$result: TURN.CALL.PATH}` a value of an earlier result of the phase, as the model got it: `1.2.structured.rows.0.id`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Final, Literal, Self

import regex
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    PrivateAttr,
    StringConstraints,
    model_validator,
)
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
from pydantic_core import PydanticCustomError

from aop_runtime.faults import Fault
from aop_runtime.messages import Message
from aop_runtime.yaml_file import read_yaml
from aop_runtime.yaml_lines import Lined, Place

MAX_FILE: Final = 4 * 1024 * 1024
_MATCH_S: Final = 1.0
_SHOWN: Final = 300


class ScriptFault(Fault):
    """A script is unreadable, or the run went another way than it. The message says where."""


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Matches(_Closed):
    matches: Annotated[str, StringConstraints(min_length=1, max_length=2_000)]


class ScriptedCall(_Closed):
    tool: Annotated[str, StringConstraints(max_length=200)]
    arguments: dict[str, JsonValue] | str = Field(default_factory=dict)


class Turn(_Closed):
    say: str = ""
    calls: tuple[ScriptedCall, ...] = ()
    expect: str | Matches = ""
    _where: str = PrivateAttr("script")

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not self.say and not self.calls:
            raise PydanticCustomError("empty-turn", "a turn has say, calls, or both")
        return self

    @property
    def where(self) -> str:
        """File and line."""
        return self._where

    def stands_at(self, where: str) -> None:
        self._where = where


class Script(_Closed):
    phases: dict[str, tuple[Turn, ...]]
    called: dict[str, Script] = Field(default_factory=dict)
    _where: str = PrivateAttr("script")

    def model(self, phase: str) -> Model:
        """Plays the turns of one phase: the next one each time that it is asked."""
        turns = self.phases.get(phase, ())
        named = phase or Message("script.no-phase")

        def play(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            turn = sum(isinstance(message, ModelResponse) for message in messages)
            if turn < len(turns):
                place = Message("script.where", place=turns[turn].where, phase=named, turn=turn + 1)
                return _played(turns[turn], messages, place)
            raise ScriptFault("script.over", path=self._where, turns=len(turns), phase=named)

        return FunctionModel(play, model_name="script")

    def stands_in(self, path: str, lined: Lined, place: Place = ()) -> None:
        self._where = path
        for phase, turns in self.phases.items():
            for number, turn in enumerate(turns):
                turn.stands_at(f"{path}:{lined.line((*place, 'phases', phase, number))}")
        for name, script in self.called.items():
            script.stands_in(path, lined, (*place, "called", name))


class _File(Script):
    version: Literal[1]


def _played(turn: Turn, messages: list[ModelMessage], where: Message) -> ModelResponse:
    sent = "\n".join(_texts(_requests(messages)[-1]))
    if isinstance(turn.expect, Matches):
        if _search(turn.expect.matches, sent, where) is None:
            raise ScriptFault("script.unlike", where=where, wanted=turn.expect.matches, sent=sent[:_SHOWN])
    elif turn.expect not in sent:
        raise ScriptFault("script.without", where=where, wanted=turn.expect, sent=sent[:_SHOWN])
    parts: list[TextPart | ToolCallPart] = [TextPart(turn.say)] if turn.say else []
    for call in turn.calls:
        given = call.arguments if isinstance(call.arguments, str) else _filled(call.arguments, messages, where)
        # As text, which is how a language model writes them.
        parts.append(ToolCallPart(call.tool, given if isinstance(given, str) else json.dumps(given)))
    return ModelResponse(parts, usage=RequestUsage(input_tokens=len(sent), output_tokens=len(turn.say)))


def _requests(messages: list[ModelMessage]) -> list[ModelRequest]:
    return [message for message in messages if isinstance(message, ModelRequest)]


def _texts(request: ModelRequest) -> list[str]:
    return [str(part.content) for part in request.parts if isinstance(part, UserPromptPart | ToolReturnPart)]


def _search(pattern: str, text: str, where: Message) -> regex.Match[str] | None:
    try:
        return regex.search(pattern, text, timeout=_MATCH_S)
    except (regex.error, TimeoutError) as error:
        raise ScriptFault("script.pattern", where=where, pattern=pattern, said=str(error)) from error


def _filled(value: JsonValue, messages: list[ModelMessage], where: Message) -> JsonValue:
    if isinstance(value, list):
        return [_filled(entry, messages, where) for entry in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$match": str(pattern), **others} if not others:
            found = _search(pattern, "\n".join(_texts(_requests(messages)[-1])), where)
            if found is None or found.lastindex is None:
                raise ScriptFault("script.no-group", where=where, pattern=pattern)
            return str(found[1])
        case {"$result": str(path), **others} if not others:
            return _result(path, messages, where)
        case _:
            return {name: _filled(entry, messages, where) for name, entry in value.items()}


def _result(path: str, messages: list[ModelMessage], where: Message) -> JsonValue:
    """TURN.CALL.PATH, all counted as people do but for the places in lists, which JSON counts from 0."""
    turn, call, *rest = [*path.split("."), "", ""] if "." in path else [path, ""]
    returned = [
        [part for part in request.parts if isinstance(part, ToolReturnPart)] for request in _requests(messages)[1:]
    ]
    try:
        value: JsonValue = json.loads(str(returned[_number(turn)][_number(call)].content))
        for step in filter(None, rest):
            value = value[int(step)] if isinstance(value, list) else value[step]  # type: ignore[index] # what has no parts raises
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise ScriptFault("script.no-result", where=where, path=path) from error
    return value


def _number(word: str) -> int:
    """From 0. Raises ValueError."""
    number = int(word)
    if number < 1:
        raise ValueError(word)
    return number - 1


def read_script(path: Path) -> Script:
    """Raises ScriptFault."""
    script, lined = read_yaml(path, _File, MAX_FILE, Message("yaml.script"), ScriptFault)
    script.stands_in(str(path), lined)
    return script
