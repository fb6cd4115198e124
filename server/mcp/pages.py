"""Which web pages may reach the MCP server: a page of somebody else must not, through a visitor's browser (DNS
rebinding: its name is turned to the visitor's own machine after the page was loaded)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

from server.errors import ApiError
from workers.settings import Settings

_LOCAL: Final = r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?"
_LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_MISDIRECTED: Final = 421
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Pages:
    """`public`: the address under which the outside knows the server, as an origin, "" unknown. `loopback`: whether it
    can be reached from its own machine only; elsewhere the host that a request names is its proxy's business."""

    public: str
    loopback: bool

    @classmethod
    def of(cls, settings: Settings) -> Pages:
        parts = urlsplit(settings.public_url or "")
        return cls(f"{parts.scheme}://{parts.netloc}".lower() if parts.netloc else "", settings.host in _LOOPBACK)

    def check(self, request: HTTPConnection) -> None:
        """Raises ApiError 403 for another's page, 421 for another's name."""
        host = request.headers.get("host", "").lower()
        if self.loopback and not self._is_ours(host):
            raise ApiError("forbidden", "host", status=_MISDIRECTED, details={"host": host[:_SHOWN]})
        origin = request.headers.get("origin", "").lower()
        if origin and (self.loopback or self.public) and not self._is_our_page(origin):
            raise ApiError("forbidden", "origin", details={"origin": origin[:_SHOWN]})

    def _is_ours(self, host: str) -> bool:
        return bool(re.fullmatch(_LOCAL, host)) or (bool(self.public) and host == self.public.partition("://")[2])

    def _is_our_page(self, origin: str) -> bool:
        return bool(re.fullmatch(f"https?://{_LOCAL}", origin)) or origin == self.public
