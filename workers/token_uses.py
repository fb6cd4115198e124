"""How often tokens are used, and when last: counted in memory, added up in the artifact store now and then.

A process that dies loses what it had not added yet, at most half a minute's.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.stores.protocol import Store, StoreError

PREFIX: Final = "token-use/"
FLUSH_S: Final = 30.0


class TokenUse(BaseModel):
    """`last_ms`: since 1970, 0: never."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    count: Annotated[int, Field(ge=0)] = 0
    last_ms: Annotated[int, Field(ge=0)] = 0

    def __add__(self, other: TokenUse) -> TokenUse:
        return TokenUse(count=self.count + other.count, last_ms=max(self.last_ms, other.last_ms))


class Uses:
    """What this process has counted. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counted: dict[str, TokenUse] = {}

    def count(self, identity: str, now_ms: int) -> None:
        self._add(identity, TokenUse(count=1, last_ms=now_ms))

    def flush(self, store: Store) -> None:
        """Add up in the store. What could not be added stays counted. Raises StoreError."""
        with self._lock:
            counted, self._counted = self._counted, {}
        while counted:
            identity, use = counted.popitem()
            try:
                _add_up(store, identity, use)
            except StoreError:
                for left, left_use in ((identity, use), *counted.items()):
                    self._add(left, left_use)
                raise

    def stored(self, store: Store, identities: Iterable[str]) -> Mapping[str, TokenUse]:
        """With what this process has not added yet."""
        names = {f"{PREFIX}{identity}": identity for identity in identities}
        found = {names[name]: _decoded(data) for name, data in store.get_pointers(names).items()}
        with self._lock:
            counted = dict(self._counted)
        return {
            identity: found.get(identity, TokenUse()) + counted.get(identity, TokenUse())
            for identity in found.keys() | counted.keys()
        }

    def _add(self, identity: str, use: TokenUse) -> None:
        with self._lock:
            self._counted[identity] = self._counted.get(identity, TokenUse()) + use


def _add_up(store: Store, identity: str, use: TokenUse) -> None:
    name = f"{PREFIX}{identity}"
    while True:
        stored = store.get_pointer(name)
        total = (TokenUse() if stored is None else _decoded(stored)) + use
        if store.set_pointer(name, total.model_dump_json().encode(), stored):
            return


def _decoded(data: bytes) -> TokenUse:
    try:
        return TokenUse.model_validate_json(data)
    except ValidationError:
        return TokenUse()
