"""Recompiles of many documents, as the ledger has them: plans that wait for their token, what is still to do, counts.

The keys are described in `lua/keys.lua`. Every method is one round trip or two, and may raise RedisError.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from redis import Redis

from workers.ledger.ledger import Ledger, in_fours, new_id
from workers.ledger.records import JobClass, LedgerCorrupt, Message, Stage

RecompileState: TypeAlias = Literal["running", "paused", "cancelled", "finished"]
Change: TypeAlias = Literal["running", "paused", "cancelled"]

KEEP_PLAN_S: Final = 3_600
MOST_PLANS: Final = 10
"""Plans that wait for their token, of one person."""
KEEP_OFFER_S: Final = 7 * 86_400
"""An offer is made once; who looks may be on holiday."""
KEEP_RECOMPILE_MS: Final = 7 * 86_400_000
BUSY_MS: Final = 1_000
"""After so long a document is tried again whose job waited or ran."""
_CHUNK: Final = 1_000
_AT_ONCE: Final = 100
_COUNTS: Final = ("succeeded", "failed", "superseded", "dead", "skipped")


@dataclass(frozen=True, slots=True)
class Recompile:
    """`total`: of documents; `counts`: by what became of them; `scope`: JSON; `by`: who asked for it.

    `finished` where every document has its outcome; a cancelled one stays so.
    """

    id: str
    state: RecompileState
    scope: str
    catalog: str
    by: str
    total: int
    created_ms: int
    counts: Mapping[str, int]

    @property
    def done(self) -> int:
        return sum(self.counts.values())


class Recompiles:
    def __init__(self, ledger: Ledger, redis: Redis, prefix: str) -> None:
        self._ledger = ledger
        self._redis = redis
        self._prefix = prefix

    # ------------------------------------------------------------------------------------------------ plans

    def keep_plan(self, token: str, plan: str, by: str, keep_s: int = KEEP_PLAN_S) -> None:
        """`by`: who asked for it. Only so many of each are kept: a plan of a large library is large."""
        waiting = self._key("plans", by)
        older = cast("list[str]", self._redis.lrange(waiting, MOST_PLANS - 1, -1))
        pipe = self._redis.pipeline()
        pipe.lpush(waiting, token)
        pipe.ltrim(waiting, 0, MOST_PLANS - 1)
        pipe.expire(waiting, keep_s)
        for name in older:
            pipe.delete(self._key("plan", name))
        pipe.set(self._key("plan", token), plan, ex=keep_s)
        pipe.execute()

    def plan(self, token: str) -> str | None:
        return cast("str | None", self._redis.get(self._key("plan", token)))

    def begun_with(self, token: str) -> str | None:
        """The recompile that this token has begun already."""
        return cast("str | None", self._redis.get(self._key("planned", token)))

    # ------------------------------------------------------------------------------------------- recompiles

    def begin(self, token: str, documents: Sequence[str], scope: str, catalog: str, by: str, identity: str = "") -> str:
        """The id of the recompile of these documents; `identity`, if it begins now: the same token begins one only
        once. Raises LedgerLost."""
        identity = identity or new_id()
        todo = f"{self._key('bulk', identity)}:todo"
        for start in range(0, len(documents), _CHUNK):
            pipe = self._redis.pipeline()
            pipe.zadd(todo, dict.fromkeys(documents[start : start + _CHUNK], 0))
            pipe.expire(todo, KEEP_PLAN_S)  # where nothing comes of it
            pipe.execute()
        texts = (token, identity, scope, catalog, by, str(len(documents)))
        numbers = (KEEP_RECOMPILE_MS, KEEP_PLAN_S * 1_000)
        return self._ledger.transition("begin_recompile", texts, numbers)[0]

    def recompile(self, identity: str) -> Recompile | None:
        """None: there is none, or it ended long ago. Raises LedgerCorrupt."""
        fields = cast("dict[str, str]", self._redis.hgetall(self._key("bulk", identity)))
        return _read(identity, fields) if "state" in fields else None

    def newest(self, count: int, most: int = 1_000, wanted: Callable[[Recompile], bool] = bool) -> list[Recompile]:
        """The newest ones that are `wanted`, at most `count`, of the `most` newest. Raises LedgerCorrupt."""
        ids = cast("list[str]", self._redis.zrevrange(self._key("bulks"), 0, most - 1))
        found: list[Recompile] = []
        for start in range(0, len(ids), _AT_ONCE):
            if len(found) >= count:
                break
            pipe = self._redis.pipeline(transaction=False)
            for identity in ids[start : start + _AT_ONCE]:
                pipe.hgetall(self._key("bulk", identity))
            answers = cast("list[dict[str, str]]", pipe.execute())
            read = zip(ids[start : start + _AT_ONCE], answers, strict=True)
            found += filter(wanted, [_read(identity, fields) for identity, fields in read if "state" in fields])
        return found[:count]

    def change(self, identity: str, state: Change) -> tuple[RecompileState, RecompileState] | None:
        """Pause, resume or cancel it, unless it has ended; its state before and after. Jobs that are under way end by
        themselves. None: there is none. Raises LedgerLost."""
        found = self._ledger.transition("change_recompile", (identity, state))
        return (cast("RecompileState", found[0]), cast("RecompileState", found[1])) if found else None

    def results(self, identity: str, cursor: int, count: int) -> tuple[int, dict[str, tuple[str, str]]]:
        """Some of the documents that have an outcome, with job and outcome; and where to go on, 0 at the end."""
        following, found = cast(
            "tuple[int, dict[str, str]]",
            self._redis.hscan(f"{self._key('bulk', identity)}:results", cursor=cursor, count=count),
        )
        pairs = {document: text.partition(" ") for document, text in found.items()}
        return following, {document: (job, outcome) for document, (job, _, outcome) in pairs.items()}

    def feed(self, window: int, most: int = 100) -> list[Message]:
        """Begin the next documents of what runs, the oldest recompile first, at most `most`, while fewer than `window`
        bulk jobs are under way; one whose job waits or runs comes later.

        Raises LedgerLost, LedgerCorrupt."""
        messages: list[Message] = []
        for identity in cast("list[str]", self._redis.zrange(self._key("bulks-open"), 0, -1)):
            ids = [new_id() for _ in range(most - len(messages))]
            if not ids:
                break
            found = self._ledger.transition("feed", (identity, str(window), str(BUSY_MS), *ids))
            messages += [
                Message(job, cast("Stage", stage), cast("JobClass", job_class))
                for job, stage, job_class, _ in in_fours(found)
            ]
        return messages

    # ------------------------------------------------------------------------------------- what became stale

    def mark_stale(self, reasons: Mapping[str, Sequence[str]]) -> None:
        """Exactly these documents are stale now."""
        key = self._key("stale")
        pipe = self._redis.pipeline()
        pipe.delete(key)
        entries = [(document, json.dumps(list(words))) for document, words in reasons.items()]
        for start in range(0, len(entries), _CHUNK):
            pipe.hset(key, mapping=dict(entries[start : start + _CHUNK]))
        pipe.execute()

    def unmark_stale(self, documents: Iterable[str]) -> None:
        names = list(documents)
        if names:
            self._redis.hdel(self._key("stale"), *names)

    def stale(self, documents: Iterable[str]) -> dict[str, list[str]]:
        """Those of `documents` that are stale, each with its reasons."""
        asked = list(documents)
        if not asked:
            return {}
        found = cast("list[str | None]", self._redis.hmget(self._key("stale"), asked))
        return {name: json.loads(text) for name, text in zip(asked, found, strict=True) if text is not None}

    def offer(self, token: str | None) -> None:
        """`token`: of a plan that is kept; None: there is nothing to offer."""
        if token is None:
            self._redis.delete(self._key("offer"))
        else:
            self._redis.set(self._key("offer"), token, ex=KEEP_OFFER_S)

    def offered(self) -> str | None:
        return cast("str | None", self._redis.get(self._key("offer")))

    # ----------------------------------------------------------------------------------------------- newest

    def newest_saves(self, documents: Sequence[str]) -> dict[str, int]:
        """The sequence of the newest accepted save of each, retired documents left out."""
        found: dict[str, int] = {}
        for start in range(0, len(documents), _CHUNK):
            chunk = documents[start : start + _CHUNK]
            pipe = self._redis.pipeline(transaction=False)
            for document in chunk:
                pipe.hmget(f"{self._prefix}:doc:{document}", "accepted", "action")
            for document, (accepted, action) in zip(chunk, cast("list[list[str]]", pipe.execute()), strict=True):
                if accepted and action != "retire":
                    found[document] = int(accepted)
        return found

    def _key(self, *parts: str) -> str:
        return ":".join((self._prefix, *parts))


def _read(identity: str, fields: Mapping[str, str]) -> Recompile:
    try:
        counts = {name: int(fields.get(name, 0)) for name in _COUNTS}
        total, created = int(fields["total"]), int(fields["created_ms"])
    except (KeyError, ValueError) as error:
        raise LedgerCorrupt(f"bulk:{identity}: {error}") from error
    scope, catalog, by = (fields.get(name, "") for name in ("scope", "catalog", "by"))
    return Recompile(identity, cast("RecompileState", fields["state"]), scope, catalog, by, total, created, counts)
