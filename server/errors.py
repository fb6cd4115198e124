"""Errors as clients get them: a status, and JSON {"code", "message", "details"}."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Literal, TypeAlias

from pydantic import JsonValue
from redis.exceptions import RedisError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from pipeline.diagnostics.lang import Lang
from pipeline.stores.protocol import StoreError
from server.language import language_of
from server.texts import say
from workers.archive import ArchiveContended
from workers.identifiers import InvalidDocumentId
from workers.intake import IntakeContended, TooLarge
from workers.ledger.records import LedgerLost, LedgerVersion
from workers.logs import get_logger

Code: TypeAlias = Literal[
    "invalid_input",
    "unauthorized",
    "forbidden",
    "confirmation_required",
    "conflict",
    "rate_limited",
    "dependency_failure",
    "not_found",
    "internal",
]

STATUS: Final[Mapping[Code, int]] = {
    "invalid_input": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "confirmation_required": 409,
    "rate_limited": 429,
    "internal": 500,
    "dependency_failure": 503,
}
RETRY_AFTER_S: Final = 2
"""For what comes back by itself: Redis, the store, the ledger."""

_logger = get_logger("server")


class ApiError(Exception):
    """`key`: of `server.texts`, `arguments` its blanks. `details`: what lets a program correct itself.

    `status`: where it is not the code's usual one. Nothing in it may be secret.
    """

    def __init__(
        self,
        code: Code,
        key: str,
        *,
        status: int | None = None,
        details: Mapping[str, JsonValue] | None = None,
        headers: Mapping[str, str] | None = None,
        **arguments: str | int,
    ) -> None:
        super().__init__(f"{code}: {key}")
        self.code: Code = code
        self.key = key
        self.status = STATUS[code] if status is None else status
        self.details = dict(details or {})
        self.headers = dict(headers or {})
        self.arguments = arguments

    def message(self, lang: Lang) -> str:
        return say(self.key, lang, **self.arguments)

    def body(self, lang: Lang) -> dict[str, JsonValue]:
        """What is the same over HTTP and MCP."""
        return {"code": self.code, "message": self.message(lang), "details": self.details}


class BadDocumentId(ApiError):
    """`path`: of the field that named it."""

    def __init__(self, fault: InvalidDocumentId, path: str) -> None:
        super().__init__("invalid_input", "field", details={"path": path, "fault": fault.fault})
        self._fault = fault
        self._path = path

    def message(self, lang: Lang) -> str:
        return say("field", lang, path=self._path, detail=self._fault.text(lang))


def unavailable(key: Literal["ledger-lost", "redis", "store", "timeout"], after_s: int = RETRY_AFTER_S) -> ApiError:
    return ApiError(
        "dependency_failure", key, details={"retry_after_s": after_s}, headers={"retry-after": str(after_s)}
    )


def as_api_error(error: Exception) -> ApiError | None:
    """What is said of a fault that comes from below. None: it is a bug."""
    match error:
        case ApiError():
            return error
        case LedgerLost() | LedgerVersion():
            return unavailable("ledger-lost")
        case RedisError():
            return unavailable("redis")
        case StoreError() | ArchiveContended() | IntakeContended():
            return unavailable("store")
        case TooLarge():
            limit = error.limit
            return ApiError(
                "invalid_input", "document-too-large", status=413, details={"limit_bytes": limit}, limit=limit
            )
        case InvalidDocumentId():
            return BadDocumentId(error, "document_id")
        case HTTPException():
            return _of_http(error)
        case _:
            return None


def _of_http(error: HTTPException) -> ApiError:
    headers = dict(error.headers or {})
    match error.status_code:
        case 404:
            return ApiError("not_found", "no-such-path", headers=headers)
        case 405:
            return ApiError("invalid_input", "method", status=405, headers=headers, method="")
        case 413:
            return ApiError("invalid_input", "bad-request", status=413, headers=headers)
        case status:
            return ApiError("invalid_input", "bad-request", status=status, headers=headers)


def response_of(error: ApiError, lang: Lang) -> JSONResponse:
    return JSONResponse(error.body(lang), error.status, error.headers | {"content-language": lang})


async def answer(request: Request, error: Exception) -> Response:
    """The handler of everything that has words. Faults of ours that the client only sees as 503 are logged."""
    found = as_api_error(error)
    if found is None:
        return internal(request, error)
    if found.key == "method":
        found.arguments["method"] = request.method
    if found.code == "dependency_failure":
        _logger.warning("unavailable", path=request.url.path, cause=f"{type(error).__name__}: {error}")
    elif found.code in ("unauthorized", "forbidden"):
        client = "" if request.client is None else request.client.host
        _logger.info("refused", path=request.url.path, key=found.key, client=client)
    return response_of(found, language_of(request))


def internal(request: HTTPConnection, error: Exception) -> Response:
    """A bug. The log has the traceback, the client the id to look for."""
    identity = str(request.scope.get("aop.request_id", ""))
    _logger.error("internal error", path=request.url.path, exc_info=error)
    details: dict[str, JsonValue] = {"request_id": identity}
    return response_of(ApiError("internal", "internal", details=details, request=identity), language_of(request))


Handler: TypeAlias = Callable[[Request, Exception], Awaitable[Response]]
HANDLERS: Final[Mapping[type[Exception], Handler]] = {
    ApiError: answer,
    LedgerLost: answer,
    RedisError: answer,
    StoreError: answer,
    ArchiveContended: answer,
    IntakeContended: answer,
    LedgerVersion: answer,
    TooLarge: answer,
    InvalidDocumentId: answer,
    HTTPException: answer,
}
