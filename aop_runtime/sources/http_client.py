"""Calls of one HTTP API: one pool of connections a run, answers within bounds, failures in the plane's codes."""

from __future__ import annotations

import asyncio
import codecs
import json
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import httpx2

from aop_runtime.declarations import Json
from aop_runtime.messages import Message
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.spec import ToolSpec
from aop_runtime.sources import failures
from aop_runtime.sources.http_guard import EXCHANGE, BodyFault, Exchange, Guard
from aop_runtime.sources.http_request import Filled
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.mcp_logging import quiet
from aop_runtime.sources.misfit import misfit
from aop_runtime.sources.redaction import Secrets
from aop_runtime.sources.words import one_line

_REDIRECTS: Final = 3
_SUCCESS: Final = range(200, 300)
_CHARSETS: Final = frozenset(
    ("ascii", "utf-8", "utf-16", "utf-16-le", "utf-16-be", "iso8859-1", "iso8859-2", "iso8859-15", "cp1251", "cp1252",
     "shift_jis", "cp932", "euc_jp", "iso2022_jp", "gb18030", "gbk", "gb2312", "big5", "euc_kr", "koi8-r")
)  # fmt: skip
"""As Python calls them."""

_REDIRECT: Final = (301, 302, 303, 307, 308)


class Api:
    def __init__(self, base: str, headers: Mapping[str, str], secrets: Secrets, limits: Limits) -> None:
        self._base = base
        self._limits = limits
        self._secrets = secrets
        # Time-outs are of the whole call, not of its parts.
        self._client = httpx2.AsyncClient(
            transport=Guard(base, limits.message_bytes, limits.message_bytes),
            headers={"Accept": "application/json", "User-Agent": "aop", **headers},
            timeout=httpx2.Timeout(None, connect=limits.connect_s),
            trust_env=False,
        )

    async def aclose(self) -> None:
        await self._client.aclose()

    async def call(self, spec: ToolSpec, filled: Filled) -> Output:
        """Raises ToolFailure. A read is sent again once, where the connection was lost under it."""
        for last in (False, True):
            exchange = Exchange()
            token = EXCHANGE.set(exchange)
            try:
                with quiet():
                    async with asyncio.timeout(spec.timeout_s):
                        response = await self._send(filled)
                return self._output(spec, response)
            except TimeoutError:
                raise failures.lost(
                    spec.address, f"it did not answer within {spec.timeout_s:g} s", spec.effect, sent=exchange.sent
                ) from None
            except BodyFault as error:
                raise failures.lost(spec.address, str(error), spec.effect, sent=True) from None
            except httpx2.TransportError:
                if last or (exchange.sent and spec.effect == "write"):
                    why = str(exchange.fault or Message("connection.broke-off"))
                    raise failures.lost(spec.address, why, spec.effect, sent=exchange.sent) from None
            finally:
                EXCHANGE.reset(token)
        raise AssertionError("the last turn returns or raises")

    async def _send(self, filled: Filled) -> httpx2.Response:
        url = self._base + filled.target
        headers = dict(filled.headers)
        if filled.body is not None:
            headers["Content-Type"] = "application/json"
        for _ in range(_REDIRECTS + 1):
            response = await self._client.request(
                filled.method, url, headers=headers, content=filled.body, follow_redirects=False
            )
            following = self._following(filled, response)
            if following is None:
                return response
            url = following
        return response

    def _following(self, filled: Filled, response: httpx2.Response) -> str | None:
        """Where a read goes on: within the API's own origin, which alone the credential is for."""
        location = response.headers.get("location")
        if response.status_code not in _REDIRECT or location is None or filled.method not in ("GET", "HEAD"):
            return None
        try:
            target = response.request.url.join(location)
        except httpx2.InvalidURL:
            return None
        base = urlsplit(self._base)
        here = response.request.url
        same = (target.scheme, target.host, target.port) == (here.scheme, here.host, here.port)
        return str(target) if same and target.scheme == base.scheme and not target.userinfo else None

    def _output(self, spec: ToolSpec, response: httpx2.Response) -> Output:
        """Raises ToolFailure."""
        status = response.status_code
        if status not in _SUCCESS:
            raise self._failure(spec, response)
        value, text, warnings = self._body(response)
        unknown = spec.effect == "write"
        if value is None and text and _is_json(response):
            raise failures.lost(spec.address, "its answer is no JSON", spec.effect, sent=True)
        if spec.output_schema is not None and (wrong := misfit(value, spec.output_schema)) is not None:
            raise ToolFailure(
                "dependency_failure",
                f"{spec.address}: its result is not what its definition promises ({wrong})",
                unknown_outcome=unknown,
            )
        return Output(content=text or f"HTTP {status}", structured=value, warnings=warnings)

    def _body(self, response: httpx2.Response) -> tuple[Json, str, tuple[str, ...]]:
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if _is_json(response):
            try:
                value: Json = self._secrets.hide_json(json.loads(response.content))
                return value, json.dumps(value, ensure_ascii=False), ()
            except (ValueError, RecursionError):
                return None, self._secrets.hide(_text(response)), ()
        if not response.content or kind.startswith("text/"):
            return None, self._secrets.hide(_text(response)), ()
        shown = f"[{one_line(kind or 'unknown', 80)}, {len(response.content)} bytes]"
        return None, shown, ("the answer was left out: only text is handed on",)

    def _failure(self, spec: ToolSpec, response: httpx2.Response) -> ToolFailure:
        status = response.status_code
        code, unknown = failures.of_status(status, spec.effect)
        details: dict[str, Json] = {"status": status, **failures.retry_after(response.headers.get("retry-after"))}
        said = f"HTTP {status}"
        if status in _REDIRECT:
            said += ", a redirect that is not followed"
        elif response.content:
            value, text, _ = self._body(response)
            said += f" {one_line(_message(value) or text, self._limits.words)}"
        return failures.answered(spec.address, code, said, details, unknown_outcome=unknown)


def _text(response: httpx2.Response) -> str:
    """In the encoding that it names, where that is one of texts. Python knows more by name: some of them unpack, and
    one takes hours for what a server may send."""
    try:
        codec = codecs.lookup(response.charset_encoding or "utf-8").name
    except (LookupError, ValueError):
        codec = "utf-8"
    return response.content.decode(codec if codec in _CHARSETS else "utf-8", "replace")


def _is_json(response: httpx2.Response) -> bool:
    kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    return kind == "application/json" or kind.endswith("+json")


def _message(value: Json) -> str | None:
    """An API's own message in one of the usual places of an error's body."""
    if not isinstance(value, dict):
        return None
    for key in ("message", "detail", "error_description", "error", "title"):
        found = value.get(key)
        if isinstance(found, str) and found:
            return found
        if isinstance(found, dict) and (inner := _message(found)):
            return inner
    return None
