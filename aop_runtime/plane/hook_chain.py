"""All hooks of a phase around a call. One that fails lets nothing pass: the call is not made, its result withheld."""

from __future__ import annotations

import copy
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import CallError, Envelope
from aop_runtime.plane.hooks import Block, Change, Hook, HookCall
from aop_runtime.plane.permission import Verdict
from aop_runtime.plane.questions import Question
from aop_runtime.plane.refusal import Refused

_log = logging.getLogger(__name__)


class HookChain:
    def __init__(self, hooks: Sequence[Hook]) -> None:
        self._before = [hook for hook in hooks if type(hook).before is not Hook.before]
        self._decided = [hook for hook in hooks if type(hook).decided is not Hook.decided]
        self._shown = [hook for hook in hooks if type(hook).shown is not Hook.shown]
        self._after = [hook for hook in reversed(hooks) if type(hook).after is not Hook.after]

    async def before(self, call: HookCall, check: Callable[[Mapping[str, Json]], None]) -> dict[str, Json]:
        """The arguments as the hooks leave them; `check` judges every change. Raises Refused."""
        arguments = dict(call.arguments)
        for hook in self._before:
            try:
                # A copy: only what a hook says that it changes is changed.
                decision = await hook.before(replace(call, arguments=copy.deepcopy(arguments)))
            except Exception as error:
                raise _failed(hook, call.id) from error
            if isinstance(decision, Block):
                raise Refused("denied", decision.reason, {"hook": hook.name})
            if isinstance(decision, Change):
                arguments = copy.deepcopy(dict(decision.arguments))
                check(arguments)
        return arguments

    async def decided(self, call: HookCall, verdict: Verdict) -> None:
        """Raises Refused."""
        for hook in self._decided:
            try:
                await hook.decided(replace(call, arguments=copy.deepcopy(dict(call.arguments))), verdict)
            except Exception as error:
                raise _failed(hook, call.id) from error

    def shown(self, question: Question) -> Question:
        """Raises Refused."""
        for hook in self._shown:
            try:
                question = hook.shown(question)
            except Exception as error:
                raise _failed(hook, question.call) from error
        return question

    async def after(self, call: HookCall, envelope: Envelope) -> Envelope:
        for hook in self._after:
            try:
                envelope = await hook.after(call, envelope)
            except Exception:  # noqa: BLE001 - a hook is anybody's code; whatever it raises releases no result
                _log.exception("hook %s failed after %s", hook.name, call.id)
                error = CallError(
                    code="internal",
                    message=f"the hook {hook.name} failed; the result of the call is withheld",
                    unknown_outcome=envelope.error is not None and envelope.error.unknown_outcome,
                )
                envelope = Envelope(content="", error=error, duration_s=envelope.duration_s)
        return envelope


def _failed(hook: Hook, call: str) -> Refused:
    _log.exception("hook %s failed before %s", hook.name, call)
    return Refused("internal", f"the hook {hook.name} failed; the call was not made")
