"""Models: by `provider:name` as pydantic-ai knows them, with that provider's environment variables, or a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from pydantic_ai.direct import model_request
from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from aop_runtime.engine.model_names import ModelFault, named_model
from aop_runtime.engine.script import Script
from aop_runtime.messages import Message
from aop_runtime.plane.registry import Offer
from aop_runtime.sources.words import one_line

MOST_TRIES: Final = 4
REQUEST_S: Final = 600.0
LONGEST_PAUSE_S: Final = 60.0

_SETTINGS: Final = ModelSettings(framing_announcement="never")


class Models(Protocol):
    """Which model answers in a phase."""

    name: str

    def of(self, phase: str) -> Model:
        """`phase`: its number as text, "" where there are no phases. Nothing is asked of it. Raises ModelFault."""
        ...

    def called(self, procedure: str) -> Models:
        """For a procedure that this one runs."""
        ...


class NamedModel:
    def __init__(self, name: str) -> None:
        self.name = name
        self._model: Model | None = None

    def of(self, phase: str) -> Model:
        if self._model is None:
            self._model = named_model(self.name)
        return self._model

    def called(self, procedure: str) -> Models:
        return self


class ScriptedModels:
    name = "script"

    def __init__(self, script: Script) -> None:
        self._script = script

    def of(self, phase: str) -> Model:
        return self._script.model(phase)

    def called(self, procedure: str) -> Models:
        return ScriptedModels(self._script.called.get(procedure, Script(phases={})))


def opening(instructions: str, asked: str) -> ModelRequest:
    """What a phase begins with. `instructions` reach every provider byte for byte, and none adds anything to them.

    As a system prompt: what pydantic-ai calls instructions is stripped on the way to some providers, and announced to
    some models by a message of its own.
    """
    return ModelRequest([SystemPromptPart(instructions), UserPromptPart(asked)])


async def ask(
    model: Model, messages: Sequence[ModelMessage], offered: Sequence[Offer], note: Callable[[Message], None]
) -> ModelResponse:
    """One answer, with `offered` as the only tools. Raises ModelFault.

    Asked directly, not through an agent of pydantic-ai, which has tools and limits of its own. A provider that is busy
    or broken, and a model whose answer is none, are asked again, a few times.
    """
    tools = [
        # strict None would let a provider's adapter decide to rewrite the schema.
        ToolDefinition(
            name=offer.name,
            description=offer.description,
            parameters_json_schema=dict(offer.input_schema),
            strict=False,
        )
        for offer in offered
    ]
    name = model.model_name
    parameters = ModelRequestParameters(function_tools=tools, allow_text_output=True, instruction_parts=[])
    for attempt in range(1, MOST_TRIES + 1):
        asked_for_s = 0.0
        try:
            async with asyncio.timeout(REQUEST_S):
                reply = await model_request(
                    model, messages, model_settings=_SETTINGS, model_request_parameters=parameters
                )
            wrong = _unusable(name, reply)
            if wrong is None:
                return reply
            said = wrong
        except ModelHTTPError as error:
            said = _refused(name, error)
            if error.status_code not in (408, 409, 429) and error.status_code < 500:
                raise ModelFault("model.refused", said=said) from error
            asked_for_s = error.retry_after or 0.0
        except ModelAPIError:
            said = Message("model.not-reached", name=name)
        except UnexpectedModelBehavior:
            said = Message("model.no-answer", name=name)
        except TimeoutError as error:
            raise ModelFault("model.silent", name=name, seconds=REQUEST_S) from error
        except UserError as error:
            raise ModelFault("model.unusable", name=name, said=one_line(str(error), 300)) from error
        if attempt == MOST_TRIES:
            raise ModelFault("model.too-often", said=said, times=MOST_TRIES)
        note(Message("note.again", said=said))
        await asyncio.sleep(min(max(asked_for_s, 0.5 * 4 ** (attempt - 1)), LONGEST_PAUSE_S))
    raise AssertionError("unreachable: the last attempt returns or raises")


def _refused(name: str, error: ModelHTTPError) -> Message:
    """In the provider's words; about a key, which some of them repeat, in ours."""
    status = error.status_code
    if status in (401, 403):
        return Message("model.http-key", name=name, status=status)
    inner = error.body.get("error", error.body) if isinstance(error.body, dict) else None
    said = inner.get("message") if isinstance(inner, dict) else None
    if not isinstance(said, str) or not said:
        return Message("model.http", name=name, status=status)
    return Message("model.http-said", name=name, status=status, said=one_line(said, 300))


def _unusable(name: str, reply: ModelResponse) -> Message | None:
    """Why it is no answer; None: it is one. The end of a phase must be something that the model meant to say."""
    if any(isinstance(part, ToolCallPart) for part in reply.parts):
        return None
    if reply.finish_reason == "length":
        return Message("model.cut-off", name=name)
    if reply.finish_reason == "content_filter":
        return Message("model.withheld", name=name)
    said = "".join([part.content for part in reply.parts if isinstance(part, TextPart)])
    return None if said.strip() else Message("model.empty", name=name)
