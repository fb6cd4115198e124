"""Many documents of the ledger at once, for those who show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from redis import Redis

from workers.ledger.records import Document, document_of

_AT_ONCE: Final = 500


class Listing:
    """`client` decodes responses; `prefix` as the ledger's. Raises RedisError."""

    def __init__(self, client: Redis, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def identities(self) -> list[str]:
        """The ids of all documents, sorted."""
        return sorted(cast("list[str]", self._client.zrange(f"{self._prefix}:docs", 0, -1)))

    def documents(self, identities: Sequence[str]) -> list[Document]:
        """Those that there are, in the order asked. Raises LedgerCorrupt."""
        found: list[Document] = []
        for index in range(0, len(identities), _AT_ONCE):
            group = identities[index : index + _AT_ONCE]
            pipe = self._client.pipeline(transaction=False)
            for identity in group:
                pipe.hgetall(f"{self._prefix}:doc:{identity}")
            answers = cast("list[dict[str, str]]", pipe.execute())
            pairs = zip(group, answers, strict=True)
            found += [document_of(identity, fields) for identity, fields in pairs if "accepted" in fields]
        return found
