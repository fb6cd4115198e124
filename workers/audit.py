"""The audit log: who changed what, kept in the artifact store. An entry is written once and never changed.

Saves are not among the entries: each is kept whole, with its source, as `save/…`.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from pipeline.stores.protocol import Store
from workers import clock

PREFIX: Final = "audit/"
SCHEMA: Final = 1


class AuditEntry(BaseModel):
    """`actor`: a token's id, or `command-line`. `action`: `token.create`, `document.retire` … `before`, `after`: what
    was changed, without secrets; None where there was nothing."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = SCHEMA
    at_ms: int
    actor: str
    actor_name: str
    action: str
    target: str
    before: JsonValue = None
    after: JsonValue = None


@dataclass(frozen=True, slots=True)
class Actor:
    """`id`: a token's, or `command-line`; `name`: what people call it."""

    id: str
    name: str


COMMAND_LINE: Final = Actor("command-line", "aop admin")


class Audit:
    """Raises StoreError from its methods."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def record(
        self,
        actor: Actor,
        action: str,
        target: str,
        *,
        before: Mapping[str, JsonValue] | None = None,
        after: Mapping[str, JsonValue] | None = None,
    ) -> AuditEntry:
        """Durable when this returns."""
        entry = AuditEntry(
            at_ms=clock.now_ms(),
            actor=actor.id,
            actor_name=actor.name,
            action=action,
            target=target,
            before=None if before is None else dict(before),
            after=None if after is None else dict(after),
        )
        # A folder's name need not be UTF-8: what is not is told as `?`.
        data = json.dumps(entry.model_dump(), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        # The name sorts by time; its random part keeps two entries of the same millisecond apart.
        while not self._store.set_pointer(f"{PREFIX}{entry.at_ms:013d}-{secrets.token_hex(8)}", data, None):
            continue
        return entry

    def entries(self, newest: int = 100) -> Iterator[AuditEntry]:
        """The newest first. What another version has written in another form is left out."""
        names = sorted(self._store.pointer_names(PREFIX), reverse=True)[:newest]
        found = self._store.get_pointers(names)
        for name in names:
            try:
                if name in found:
                    yield AuditEntry.model_validate_json(found[name])
            except ValidationError:
                continue
