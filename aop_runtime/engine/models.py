"""Models: by `provider:name` as pydantic-ai knows them, with that provider's environment variables, or a script."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UserError
from pydantic_ai.messages import InstructionPart, ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.tools import ToolDefinition

from aop_runtime.engine.script import Script
from aop_runtime.faults import Fault
from aop_runtime.plane.registry import Offer

MOST_TRIES: Final = 4
REQUEST_S: Final = 600.0


class ModelFault(Fault):
    """A model cannot be used, or did not answer. The message says which and why, and holds no key."""


class Models(Protocol):
    """Which model answers in a phase."""

    name: str

    def of(self, phase: str) -> Model:
        """`phase`: its number as text, "" where there are no phases. Raises ModelFault."""
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
            try:
                self._model = infer_model(self.name)
            except (UserError, ValueError, ImportError) as error:
                raise ModelFault(f"the model {self.name!r} cannot be used: {error}") from error
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


async def ask(
    model: Model,
    messages: Sequence[ModelMessage],
    instructions: str,
    offered: Sequence[Offer],
    note: Callable[[str], None],
) -> ModelResponse:
    """One answer. `instructions` go out exactly as they are, `offered` as the only tools. Raises ModelFault.

    Asked directly, not through an agent of pydantic-ai, which would strip the instructions. A provider that is busy or
    broken is asked again, a few times.
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
    parameters = ModelRequestParameters(
        function_tools=tools, allow_text_output=True, instruction_parts=[InstructionPart(content=instructions)]
    )
    for attempt in range(1, MOST_TRIES + 1):
        try:
            async with asyncio.timeout(REQUEST_S):
                return await model.request(list(messages), None, parameters)
        except ModelHTTPError as error:
            again = error.status_code in (408, 409, 429) or error.status_code >= 500
            said = f"the model {model.model_name} answered with HTTP {error.status_code}"
            if not again or attempt == MOST_TRIES:
                raise ModelFault(said) from error
            note(f"{said}; asked again")
        except ModelAPIError as error:
            if attempt == MOST_TRIES:
                raise ModelFault(f"the model {model.model_name} cannot be reached") from error
            note(f"the model {model.model_name} cannot be reached; asked again")
        except TimeoutError as error:
            raise ModelFault(f"the model {model.model_name} did not answer within {REQUEST_S:g} s") from error
        except UserError as error:
            raise ModelFault(f"the model {model.model_name} cannot be used: {error}") from error
        await asyncio.sleep(0.5 * 4 ** (attempt - 1))
    raise AssertionError("unreachable: the last attempt returns or raises")
