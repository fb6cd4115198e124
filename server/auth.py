"""Who asks, and what they may: tokens in `Authorization: Bearer` or `X-API-Token`, scopes, patterns of documents."""

from __future__ import annotations

from starlette.requests import HTTPConnection, Request

from server.errors import ApiError
from server.limits import address_of, take
from server.service import Backend, Service
from workers.tokens import Scope, Token, TokenRefused


def token_text(request: HTTPConnection) -> str:
    """What the request brings as its token. Raises ApiError 401."""
    bearers, keys = request.headers.getlist("authorization"), request.headers.getlist("x-api-token")
    found = {key.strip() for key in keys}
    for value in bearers:
        scheme, _, credentials = value.strip().partition(" ")
        if scheme.lower() != "bearer":
            raise _unauthorized("scheme")
        found.add(credentials.strip())
    found.discard("")
    if not found:
        raise _unauthorized("no-token")
    if len(found) > 1:
        raise _unauthorized("two-tokens")
    return found.pop()


async def authenticated(service: Service, request: Request) -> Token:
    """The token of the request, whatever it may do. Counts for its rate. Raises ApiError: 401, 429, 503."""
    text = token_text(request)
    return await service.run(check_token, service, text, address_of(request))


async def authorized(service: Service, request: Request, *scopes: Scope) -> Token:
    """The same, with all of the `scopes`. Raises ApiError 403 as well."""
    token = await authenticated(service, request)
    for scope in scopes:
        require(token, scope)
    return token


def check_token(backend: Backend, service: Service, text: str, address: str) -> Token:
    """In a thread. `address`: who a wrong token counts for. Raises ApiError."""
    try:
        token = backend.tokens.authenticate(text)
    except TokenRefused as refused:
        take(service, backend, f"address:{address}")
        raise _unauthorized(f"token-{refused.reason}", refused.reason) from None
    take(service, backend, f"token:{token.id}")
    return token


def require(token: Token, scope: Scope) -> None:
    """Raises ApiError 403, which names the scope."""
    if not token.allows(scope):
        raise ApiError(
            "forbidden", "scope", details={"missing_scope": scope, "scopes": list(token.scopes)}, scope=scope
        )


def require_document(token: Token, document: str) -> None:
    """Raises ApiError 403. It says the same whether the document exists or not."""
    if not token.may_touch(document):
        patterns = list(token.documents)
        raise ApiError("forbidden", "documents", details={"documents": list(patterns)}, patterns=", ".join(patterns))


def _unauthorized(key: str, reason: str = "") -> ApiError:
    challenge = 'Bearer realm="aop"' + (', error="invalid_token"' if reason else "")
    return ApiError("unauthorized", key, details={"reason": reason or key}, headers={"www-authenticate": challenge})
