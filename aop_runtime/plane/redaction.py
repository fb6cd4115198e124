"""The redaction hook: no secret goes back to a model, or into a question and its record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import CallError, Envelope
from aop_runtime.plane.hooks import Hook, HookCall
from aop_runtime.plane.questions import Question


class Redaction(Hook):
    """Takes secrets out of whatever goes back to the model. `hide` for JSON values, the content included."""

    name = "redaction"

    def __init__(self, hide: Callable[[Json], Json]) -> None:
        self._hide = hide

    def shown(self, question: Question) -> Question:
        arguments = self._hide(dict(question.arguments))
        return replace(
            question,
            text=str(self._hide(question.text)),
            arguments=arguments if isinstance(arguments, dict) else {},
            choices=tuple(str(self._hide(choice)) for choice in question.choices),
        )

    async def after(self, call: HookCall, envelope: Envelope) -> Envelope:
        content = self._hide(envelope.content)
        return replace(
            envelope,
            content=content if isinstance(content, str) else "",
            structured=self._hide(envelope.structured),
            warnings=tuple(str(self._hide(warning)) for warning in envelope.warnings),
            error=None if envelope.error is None else self._error(envelope.error),
        )

    def _error(self, error: CallError) -> CallError:
        details = self._hide(dict(error.details))
        shown = details if isinstance(details, dict) else {}
        return replace(error, message=str(self._hide(error.message)), details=shown)
