"""Plans with their tokens, and the recompiles that a token begins."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from workers.bulk.plan import Plan, Planner
from workers.bulk.scope import Scope
from workers.ledger.ledger import Ledger, new_id
from workers.ledger.recompiles import KEEP_OFFER_S, KEEP_PLAN_S, Recompiles

_NOBODY: Final = "offer"
"""Who asks for what a catalog offers."""


class PlanUnknown(Exception):
    """No plan has that token: it was never given, or an hour has passed."""


@dataclass(frozen=True, slots=True)
class Begun:
    """`identity`: of the recompile that runs. `now`: by this call, not by an earlier one with the same token."""

    identity: str
    now: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """Nothing runs: the catalog is another one, or it would be more work. The new plan and its token."""

    plan: Plan
    token: str


@dataclass(frozen=True, slots=True)
class Bulk:
    """May raise StoreError, RedisError, LedgerLost. `planner`: makes one with what is current now."""

    ledger: Ledger
    recompiles: Recompiles
    planner: Callable[[], Planner]

    def plan(self, scope: Scope, may: Callable[[str], bool], by: str, keep_s: int = KEEP_PLAN_S) -> tuple[Plan, str]:
        """The plan and the token that runs it. `may`: whether who asks, `by`, may read that document."""
        plan = self.planner().plan(scope, self.ledger.documents(), may)
        return plan, self._kept(plan, by, keep_s)

    def _kept(self, plan: Plan, by: str, keep_s: int = KEEP_PLAN_S) -> str:
        token = secrets.token_urlsafe(24)
        self.recompiles.keep_plan(token, plan.model_dump_json(), by, keep_s)
        return token

    def run(self, token: str, may: Callable[[str], bool], by: str) -> Begun | Changed:
        """Run what was planned, if it still is that and no more. The same token again: the same recompile.

        Raises PlanUnknown.
        """
        begun = self.recompiles.begun_with(token)
        if begun is not None:
            return Begun(begun, now=False)
        kept = self.recompiles.plan(token)
        if kept is None:
            raise PlanUnknown
        try:
            before = Plan.model_validate_json(kept)
        except ValidationError:
            raise PlanUnknown from None  # another version's
        now = self.planner().plan(before.scope, self.ledger.documents(), may)
        if now.grew(before):
            return Changed(now, self._kept(now, by))
        documents = [found.document for found in now.documents]
        identity = new_id()
        found = self.recompiles.begin(token, documents, before.scope.text, now.catalog, by, identity)
        return Begun(found, now=found == identity)

    def offer(self) -> tuple[Plan, str]:
        """What the current catalog makes stale: marked, and offered as a plan."""
        plan, token = self.plan(Scope(stale=True), lambda _: True, _NOBODY, KEEP_OFFER_S)
        marked = {found.document: found.reasons for found in plan.documents}
        self.recompiles.mark_stale(marked)
        # What was compiled since the plan would stay marked; what ends from now on takes its mark off itself.
        still = self.planner().plan(plan.scope, marked, lambda _: True)
        self.recompiles.unmark_stale(marked.keys() - {found.document for found in still.documents})
        self.recompiles.offer(token if plan.documents else None)
        return plan, token
