"""The gate, and whoever is asked at it: no handler is started before it has let the call pass."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from hashlib import sha256

from aop_runtime.declarations import Json
from aop_runtime.plane.arguments import canonical
from aop_runtime.plane.envelope import ToolFailure
from aop_runtime.plane.hook_chain import HookChain
from aop_runtime.plane.hooks import HookCall
from aop_runtime.plane.journal import CallJournal
from aop_runtime.plane.permission import Rules, Verdict, strictest
from aop_runtime.plane.questions import Answer, Person, Question, Waiting
from aop_runtime.plane.refusal import Refused
from aop_runtime.plane.spec import ToolSpec
from aop_runtime.plane.texts import approval_text, outcome_text


class Gate:
    def __init__(
        self, rules: Sequence[Rules], hooks: HookChain, journal: CallJournal, person: Person, language: str
    ) -> None:
        self._rules = tuple(rules) or (Rules(),)
        self._hooks = hooks
        self._journal = journal
        self._person = person
        self._language = language
        self._asking = asyncio.Lock()

    async def admit(self, call: HookCall, spec: ToolSpec, arguments: Mapping[str, Json]) -> None:
        """Returns when the call may be made with these arguments. Raises Refused, Waiting."""
        verdict = strictest([rules.verdict(spec, arguments) for rules in self._rules])
        if verdict.action == "allow" and spec.effect == "write" and self._journal.unknown_outcome(spec, arguments):
            verdict = Verdict("ask", "an equal call ended without anybody knowing whether it was done")
        if verdict.action != "ask":
            await self._hooks.decided(call, verdict)
        if verdict.action == "deny":
            raise Refused("denied", f"{spec.address} is not permitted here ({verdict.reason})", {"by": "rules"})
        if verdict.action == "ask":
            await self._approval(call, spec, arguments, verdict.reason)

    async def _approval(self, call: HookCall, spec: ToolSpec, arguments: Mapping[str, Json], why: str) -> None:
        # What was approved are these arguments: should a hook change them otherwise next time, it is asked again.
        digest = sha256(canonical(arguments).encode()).hexdigest()[:8]
        question = Question(
            id=f"{call.id}.approval.{digest}",
            kind="approval",
            text=approval_text(spec, self._language),
            call=call.id,
            address=spec.address,
            arguments=dict(arguments),
        )
        answer = await self.ask(question)
        approved = answer.verdict == "yes"
        said = f"asked ({why}): {'approved' if approved else 'refused'} by {answer.by or 'a person'}"
        await self._hooks.decided(call, Verdict("allow" if approved else "deny", said))
        if not approved:
            reason = f": {answer.text}" if answer.text else ""
            raise Refused("denied", f"a person refused {spec.address}{reason}", {"by": "person"})

    async def recover(self, call: str, spec: ToolSpec) -> None:
        """Where an earlier process began this call and did not live to see its end.

        Returns when it may be started again. Raises ToolFailure, Refused, Waiting.
        """
        begun = self._journal.begun(call)
        if not begun or spec.effect == "read" or spec.idempotency_argument is not None:
            return
        question = Question(
            # Each time it is begun it can break off again.
            id=f"{call}.outcome.{begun}",
            kind="outcome",
            text=outcome_text(spec, self._language),
            call=call,
            address=spec.address,
        )
        answer = await self.ask(question)
        if answer.verdict == "yes":
            raise ToolFailure(
                "conflict",
                f"{spec.address} was done before the run broke off; its result is lost, and it is not done again",
                {"done": True},
            )

    async def ask(self, question: Question) -> Answer:
        """One at a time: a person can answer one. Raises Refused, Waiting."""
        answer = self._journal.answered(question.id)
        if answer is not None:
            return answer
        question = self._hooks.shown(question)
        async with self._asking:
            self._journal.asked(question)
            answer = await self._person.ask(question)
            if answer is None:
                raise Waiting(question)
            self._journal.answer(question.id, answer)
        return answer
