"""Recompiles of many documents, as the ledger has them: plans that wait for their token, what is still to do, counts.

The keys are described in `lua/keys.lua`. Every method is one round trip or two, and may raise RedisError.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, cast

from redis import Redis

from workers.ledger.ledger import Ledger, new_id
from workers.ledger.records import LedgerCorrupt, Message

RecompileState: TypeAlias = Literal["running", "paused", "cancelled", "finished"]

KEEP_PLAN_S: Final = 3_600
KEEP_RECOMPILE_MS: Final = 7 * 86_400_000
BUSY_MS: Final = 1_000
"""After so long a document is tried again whose job waited or ran."""
_CHUNK: Final = 1_000
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

    def keep_plan(self, token: str, plan: str) -> None:
        self._redis.set(self._key("plan", token), plan, ex=KEEP_PLAN_S)

    def plan(self, token: str) -> str | None:
        return cast("str | None", self._redis.get(self._key("plan", token)))

    def begun_with(self, token: str) -> str | None:
        """The recompile that this token has begun already."""
        return cast("str | None", self._redis.get(self._key("planned", token)))

    # ------------------------------------------------------------------------------------------- recompiles

    def begin(self, token: str, documents: Sequence[str], scope: str, catalog: str, by: str) -> str:
        """The id of the recompile of these documents. The same token begins one only once."""
        identity = new_id()
        if not self._redis.set(self._key("planned", token), identity, nx=True, ex=KEEP_PLAN_S):
            return self.begun_with(token) or identity
        key = self._key("bulk", identity)
        seconds, microseconds = self._redis.time()
        now = seconds * 1_000 + microseconds // 1_000
        for start in range(0, len(documents), _CHUNK):
            chunk = documents[start : start + _CHUNK]
            self._redis.zadd(f"{key}:todo", dict.fromkeys(chunk, 0))
        # What is fed must be whole: the state comes last.
        pipe = self._redis.pipeline()
        pipe.hset(
            key,
            mapping={
                "scope": scope,
                "catalog": catalog,
                "by": by,
                "total": len(documents),
                "created_ms": now,
                "state": "running",
            },
        )
        pipe.zadd(self._key("bulks"), {identity: now})
        pipe.delete(self._key("plan", token))
        pipe.execute()
        return identity

    def recompile(self, identity: str) -> Recompile | None:
        """None: there is none, or it ended long ago. Raises LedgerCorrupt."""
        fields = cast("dict[str, str]", self._redis.hgetall(self._key("bulk", identity)))
        if "state" not in fields:
            return None
        try:
            counts = {name: int(fields.get(name, 0)) for name in _COUNTS}
            total, created = int(fields["total"]), int(fields["created_ms"])
        except (KeyError, ValueError) as error:
            raise LedgerCorrupt(f"bulk:{identity}: {error}") from error
        state = fields["state"]
        if state in ("running", "paused") and sum(counts.values()) >= total:
            state = "finished"
        scope, catalog, by = (fields.get(name, "") for name in ("scope", "catalog", "by"))
        return Recompile(identity, cast("RecompileState", state), scope, catalog, by, total, created, counts)

    def newest(self, count: int) -> list[Recompile]:
        """Raises LedgerCorrupt."""
        ids = cast("list[str]", self._redis.zrevrange(self._key("bulks"), 0, count - 1))
        found = [(identity, self.recompile(identity)) for identity in ids]
        for identity, recompile in found:
            if recompile is None:
                self._redis.zrem(self._key("bulks"), identity)
        return [recompile for _, recompile in found if recompile is not None]

    def change(self, identity: str, state: Literal["running", "paused", "cancelled"]) -> Recompile | None:
        """Pause, resume or cancel it, unless it is over. Jobs that are under way end by themselves.

        Raises LedgerCorrupt."""
        found = self.recompile(identity)
        if found is None or found.state in ("cancelled", "finished"):
            return found
        key = self._key("bulk", identity)
        pipe = self._redis.pipeline()
        pipe.hset(key, "state", state)
        if state == "cancelled":
            pipe.delete(f"{key}:todo")
            pipe.pexpire(key, KEEP_RECOMPILE_MS)
            pipe.pexpire(f"{key}:results", KEEP_RECOMPILE_MS)
        pipe.execute()
        return self.recompile(identity)

    def results(self, identity: str, cursor: int, count: int) -> tuple[int, dict[str, tuple[str, str]]]:
        """Some of the documents that have an outcome, with job and outcome; and where to go on, 0 at the end."""
        following, found = cast(
            "tuple[int, dict[str, str]]",
            self._redis.hscan(f"{self._key('bulk', identity)}:results", cursor=cursor, count=count),
        )
        pairs = {document: text.partition(" ") for document, text in found.items()}
        return following, {document: (job, outcome) for document, (job, _, outcome) in pairs.items()}

    def feed(self, window: int, most: int = 100) -> list[Message]:
        """The next jobs of what runs, the oldest recompile first. The caller sends the messages."""
        messages: list[Message] = []
        for identity in cast("list[str]", self._redis.zrange(self._key("bulks"), 0, -1)):
            ids = [new_id() for _ in range(most - len(messages))]
            if not ids:
                break
            messages += self._ledger.feed(identity, window, BUSY_MS, KEEP_RECOMPILE_MS, ids)
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

    def offer(self, token: str) -> None:
        self._redis.set(self._key("offer"), token, ex=KEEP_PLAN_S)

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
