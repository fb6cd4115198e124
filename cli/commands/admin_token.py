"""`aop admin token create|list|revoke`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from cli import streams
from cli.administering import administered, moment
from cli.exits import OK
from cli.json_output import print_json
from cli.messages import say
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from workers import clock
from workers.token_uses import TokenUse
from workers.tokens import SCOPES, Token, TokenFault, Tokens

_TIME: Final = re.compile(r"([0-9]{1,5})([mhdw])")
_UNITS_S: Final = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


def create(
    *,
    name: str,
    scopes: Sequence[str],
    documents: Sequence[str] = (),
    expires: str | None = None,
    as_json: bool = False,
    lang: Lang = "ja",
) -> int:
    """Print a new token, once and alone on standard output. `expires`: `90d`, `12h`, `30m`, `4w`; None: never.

    Raises Trouble, OutputFault, StoreError.
    """
    for scope in scopes:
        if scope not in SCOPES:
            raise Trouble("admin.token-scope", scope=scope, scopes=", ".join(SCOPES))
    expires_ms = 0 if expires is None else clock.now_ms() + 1_000 * read_period(expires)
    with administered() as found:
        tokens = Tokens(found.archive.store, found.redis, found.settings.redis_prefix)
        try:
            token, text = tokens.create(name=name, scopes=scopes, documents=documents, expires_ms=expires_ms)
        except TokenFault as fault:
            raise Trouble("admin.token-field", field=fault.field) from fault
    if as_json:
        print_json({**_token_dict(token, TokenUse()), "token": text})
    else:
        streams.emit(f"{text}\n")
        streams.note(say("admin.token-made", lang, id=token.id))
    return OK


def read_period(word: str) -> int:
    """Seconds. Raises Trouble."""
    match = _TIME.fullmatch(word)
    if match is None or int(match[1]) == 0:
        raise Trouble("admin.token-expires", value=word)
    return int(match[1]) * _UNITS_S[match[2]]


def show_list(*, as_json: bool = False, lang: Lang = "ja") -> int:
    """All tokens, the oldest first, with their use. Raises OutputFault, StoreError."""
    with administered() as found:
        tokens = list(Tokens(found.archive.store, found.redis, found.settings.redis_prefix).all())
    if as_json:
        print_json([_token_dict(token, use) for token, use in tokens])
        return OK
    if not tokens:
        streams.emit(f"{say('admin.token-none', lang)}\n")
    now_ms = clock.now_ms()
    for token, use in tokens:
        documents = f"  [{', '.join(map(visible, token.documents))}]" if token.documents else ""
        streams.emit(f"{token.id}  {visible(token.name)}  {' '.join(token.scopes)}{documents}\n")
        used = say("admin.token-used", lang, count=use.count, last=moment(use.last_ms)) if use.count else ""
        streams.emit(f"    {_state(token, now_ms, lang)}  {used or say('admin.token-unused', lang)}\n")
    return OK


def revoke(*, identity: str, lang: Lang = "ja") -> int:
    """Refused from now on. `identity`: of the token, or the token itself. Raises Trouble, OutputFault, StoreError."""
    known = identity.split("_")[1] if identity.startswith("aop_") and identity.count("_") >= 2 else identity
    with administered() as found:
        token = Tokens(found.archive.store, found.redis, found.settings.redis_prefix).revoke(known)
    if token is None:
        raise Trouble("admin.token-unknown")
    streams.emit(f"{say('admin.token-revoked', lang, id=token.id, name=token.name)}\n")
    return OK


def _state(token: Token, now_ms: int, lang: Lang) -> str:
    if token.revoked_ms:
        return say("admin.token-was-revoked", lang, at=moment(token.revoked_ms))
    if not token.expires_ms:
        return say("admin.token-lasting", lang)
    key = "admin.token-expired" if token.expires_ms <= now_ms else "admin.token-until"
    return say(key, lang, at=moment(token.expires_ms))


def _token_dict(token: Token, use: TokenUse) -> dict[str, str | int | list[str] | None]:
    """Times as ISO 8601, null for never. Neither the token nor its hash."""
    return {
        "id": token.id,
        "name": token.name,
        "scopes": list(token.scopes),
        "documents": list(token.documents),
        "created": moment(token.created_ms),
        "expires": moment(token.expires_ms) if token.expires_ms else None,
        "revoked": moment(token.revoked_ms) if token.revoked_ms else None,
        "uses": use.count,
        "last_used": moment(use.last_ms) if use.last_ms else None,
    }
