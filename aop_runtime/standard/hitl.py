"""`hitl`: asks a person. Where nobody can answer now, the run stops and goes on when there is an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from aop_runtime.declarations import Json, Standard
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.questions import Question
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.protocol import Grant
from aop_runtime.standard.texts import text

NAME: Final = "hitl"
OPERATION: Final = "ask_person"

_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "question": {"type": "string", "minLength": 1, "maxLength": 4_000, "pattern": r"\S"},
        "choices": {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": 200},
            "minItems": 2,
            "maxItems": 10,
            "uniqueItems": True,
            "description": "The answers to choose from. Left out: any text.",
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}


class HitlSource:
    """A `Source` of `ask_person`."""

    def accepts(self, grant: Grant) -> bool:
        return isinstance(grant, Standard) and grant.tool == NAME

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        spec = ToolSpec(
            name=OPERATION,
            tool=NAME,
            operation=OPERATION,
            description=text(OPERATION),
            input_schema=_SCHEMA,
            effect="read",
        )
        return (Tool(spec, _ask),)

    async def aclose(self) -> None:
        """It holds nothing."""


async def _ask(arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
    """Raises Waiting."""
    question, choices = arguments["question"], arguments.get("choices", [])
    if not isinstance(question, str) or not isinstance(choices, list):
        raise ToolFailure("invalid_input", "question is a text, choices is a list of texts")
    offered = tuple(choice for choice in choices if isinstance(choice, str))
    answer = await context.ask(
        Question(
            id=f"{context.call}.question",
            kind="question",
            text=question,
            call=context.call,
            address=f"{NAME}.{OPERATION}",
            choices=offered,
        )
    )
    said = answer.text if answer.verdict == "text" else f"{answer.verdict} {answer.text}".strip()
    structured: dict[str, Json] = {"answer": said, "by": answer.by}
    warnings: tuple[str, ...] = ()
    if offered:
        structured["one_of_the_choices"] = said in offered
        if said not in offered:
            warnings = ("the answer is none of the choices",)
    return Output(content=said, structured=structured, warnings=warnings)
