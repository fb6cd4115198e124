"""A hand-over as an argument: the text is one argument of one operation, and the fixed arguments ride along."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from aop_runtime.declarations import Handover, Json
from aop_runtime.handover.substitution import substitute, values_of
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope, Output, ToolFailure


@dataclass(frozen=True, slots=True)
class ArgumentCall:
    """A `Handler`. `operation`: the one that receives the text, in its argument `argument`."""

    grant: Handover
    operation: str
    argument: str

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
        text = filled(self.grant, arguments)
        sent: dict[str, Json] = {**self.grant.fixed_arguments, self.argument: text}
        return result_of(await context.inner(self.grant.tool, self.operation, sent))


def filled(grant: Handover, arguments: Mapping[str, Json]) -> str:
    """The text with its values. Raises ToolFailure."""
    try:
        text = substitute(grant.text, values_of(arguments, grant.placeholders))
        text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure("invalid_input", "a value holds half a character (a lone surrogate)") from error
    except ValueError as error:
        raise ToolFailure("invalid_input", str(error)) from error
    return text


def result_of(envelope: Envelope) -> Output:
    """What the operation gave. Raises ToolFailure where it failed."""
    if envelope.error is not None:
        error = envelope.error
        raise ToolFailure(error.code, error.message, error.details, unknown_outcome=error.unknown_outcome)
    return Output(
        content=envelope.content,
        structured=envelope.structured,
        warnings=envelope.warnings,
        truncation=envelope.truncation,
    )
