"""Tokens that people and programs come with: `aop_ID_SECRET`. Only a hash of the secret is stored.

A token's record is the pointer `token/ID` in the artifact store, which decides. Redis keeps a copy, so that a request
reads the store once in a while only: a copy never outlives `CACHE_S`, and revoking replaces it, so a revoked token is
refused at once. The secret is random enough that a plain sha256 of it cannot be turned back.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Iterator, Sequence
from typing import Annotated, Final, Literal, Self, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints, ValidationError
from redis import Redis

from pipeline.stores.protocol import Store
from workers import clock
from workers.audit import COMMAND_LINE, Actor, Audit
from workers.globs import matches_any
from workers.token_uses import TokenUse, Uses

Scope: TypeAlias = Literal[
    "documents:read",
    "documents:compile",
    "documents:delete",
    "recompile",
    "catalog:read",
    "catalog:write",
    "webhooks",
    "admin",
]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)

PREFIX: Final = "token/"
SCHEMA: Final = 1
CACHE_S: Final = 60
_REVOKED_S: Final = 3_600
_UNKNOWN_S: Final = 5
_NOTHING: Final = ""

_FORM: Final = re.compile(r"aop_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_ID: Final = re.compile(r"[0-9a-f]{16}")
_NO_HASH: Final = "0" * 64

Refusal = Literal["malformed", "unknown", "revoked", "expired"]


class TokenRefused(Exception):
    """`reason` may be told to whoever came with it: that a token was revoked or has expired is said only to those who
    know its secret."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason: Refusal = reason


class TokenFault(ValueError):
    """A token that cannot be made as asked; `field` is name, scopes, documents or expires_ms."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


class Token(BaseModel):
    """`id`: may be shown. `hash`: sha256 of the secret, hex. `documents`: patterns (`workers.globs`) of the ids that it
    may read and write; () all. Times in ms since 1970, 0: never."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    schema_version: int = SCHEMA
    id: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
    name: Annotated[str, StringConstraints(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]
    hash: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
    scopes: Annotated[tuple[Scope, ...], Field(min_length=1)]
    documents: Annotated[
        tuple[Annotated[str, StringConstraints(min_length=1, max_length=512)], ...], Field(max_length=20)
    ] = ()
    created_ms: Annotated[int, Field(ge=0)]
    expires_ms: Annotated[int, Field(ge=0)] = 0
    revoked_ms: Annotated[int, Field(ge=0)] = 0

    def allows(self, scope: Scope) -> bool:
        return scope in self.scopes

    def may_touch(self, document: str) -> bool:
        """Whether the id is among those that the token is limited to."""
        return not self.documents or matches_any(self.documents, document)

    @property
    def limited(self) -> bool:
        """Whether there may be documents that it must not know of."""
        return bool(self.documents)

    @property
    def actor(self) -> Actor:
        return Actor(self.id, self.name)

    def encoded(self) -> bytes:
        return self.model_dump_json().encode()

    @classmethod
    def decoded(cls, data: bytes | str) -> Self | None:
        """None for what this version cannot read: such a token is refused."""
        try:
            return cls.model_validate_json(data)
        except ValidationError:
            return None


class Tokens:
    """Everything may raise StoreError, and RedisError where a copy is kept. `prefix`: of Redis keys."""

    def __init__(self, store: Store, redis: Redis, prefix: str, uses: Uses | None = None) -> None:
        self._store = store
        self._redis = redis
        self._prefix = prefix
        self._uses = uses or Uses()

    # ------------------------------------------------------------------------------------------- coming in

    def authenticate(self, text: str, now_ms: int | None = None) -> Token:
        """The token that `text` is. Its use is counted. Raises TokenRefused."""
        form = _FORM.fullmatch(text)
        if form is None:
            raise TokenRefused("malformed")
        identity, secret = form[1], form[2]
        found = self._current(identity)
        # The same work whether there is such a token or not.
        known = hmac.compare_digest(_hash(secret), _NO_HASH if found is None else found.hash)
        if found is None or not known:
            raise TokenRefused("unknown")
        now = clock.now_ms() if now_ms is None else now_ms
        if found.revoked_ms:
            raise TokenRefused("revoked")
        if found.expires_ms and found.expires_ms <= now:
            raise TokenRefused("expired")
        self._uses.count(identity, now)
        return found

    def _current(self, identity: str) -> Token | None:
        key = self._key(identity)
        copy = cast("str | None", self._redis.get(key))
        if copy is None:
            stored = self._store.get_pointer(f"{PREFIX}{identity}")
            copy = _NOTHING if stored is None else stored.decode(errors="replace")
            # Only where there still is none: a revocation may have come in between.
            if not self._redis.set(key, copy, nx=True, ex=_UNKNOWN_S if stored is None else CACHE_S):
                copy = cast("str | None", self._redis.get(key)) or _NOTHING
        return Token.decoded(copy) if copy else None

    # --------------------------------------------------------------------------------------- administration

    def create(
        self,
        *,
        name: str,
        scopes: Sequence[str],
        documents: Sequence[str] = (),
        expires_ms: int = 0,
        actor: Actor = COMMAND_LINE,
    ) -> tuple[Token, str]:
        """A new token and its text, which nobody can find out later. Raises TokenFault."""
        secret = secrets.token_urlsafe(32)
        now = clock.now_ms()
        if expires_ms and expires_ms <= now:
            raise TokenFault("expires_ms")
        while True:
            identity = secrets.token_hex(8)
            try:
                token = Token(
                    id=identity,
                    name=name,
                    hash=_hash(secret),
                    scopes=cast("tuple[Scope, ...]", tuple(dict.fromkeys(scopes))),
                    documents=tuple(dict.fromkeys(documents)),
                    created_ms=now,
                    expires_ms=expires_ms,
                )
            except ValidationError as error:
                raise TokenFault(str(error.errors()[0]["loc"][0])) from None
            if self._store.set_pointer(f"{PREFIX}{identity}", token.encoded(), None):
                break
        self._redis.delete(self._key(identity))
        Audit(self._store).record(actor, "token.create", identity, after=_shown(token))
        return token, f"aop_{identity}_{secret}"

    def revoke(self, identity: str, actor: Actor = COMMAND_LINE) -> Token | None:
        """Refused from now on. None: there is no such token. Again: nothing more happens."""
        if _ID.fullmatch(identity) is None:
            return None
        name = f"{PREFIX}{identity}"
        while True:
            stored = self._store.get_pointer(name)
            token = None if stored is None else Token.decoded(stored)
            if token is None:
                return None
            revoked = token if token.revoked_ms else token.model_copy(update={"revoked_ms": clock.now_ms()})
            if revoked is token or self._store.set_pointer(name, revoked.encoded(), stored):
                break
        self._redis.set(self._key(identity), revoked.encoded(), ex=_REVOKED_S)
        if revoked is not token:
            Audit(self._store).record(
                actor, "token.revoke", identity, before=_shown(token), after={"revoked_ms": revoked.revoked_ms}
            )
        return revoked

    def all(self) -> Iterator[tuple[Token, TokenUse]]:
        """Every token with its use, the oldest first."""
        names = list(self._store.pointer_names(PREFIX))
        stored = self._store.get_pointers(names)
        tokens = [token for data in stored.values() if (token := Token.decoded(data)) is not None]
        uses = self._uses.stored(self._store, [token.id for token in tokens])
        for token in sorted(tokens, key=lambda token: (token.created_ms, token.id)):
            yield token, uses.get(token.id, TokenUse())

    def _key(self, identity: str) -> str:
        return f"{self._prefix}:token:{identity}"


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _shown(token: Token) -> dict[str, JsonValue]:
    """What the audit log has of a token."""
    return {
        "name": token.name,
        "scopes": list(token.scopes),
        "documents": list(token.documents),
        "expires_ms": token.expires_ms,
    }
