"""When the certificates expire with which Redis and the store prove who they are."""

from __future__ import annotations

import contextlib
import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from workers.settings import Settings

_TIMEOUT_S: Final = 5.0
_KEPT_S: Final = 3_600.0
_HTTPS: Final = 443
_REDIS: Final = 6_379


class Endpoint(NamedTuple):
    name: str
    host: str
    port: int
    ca_file: str | None


def endpoints(settings: Settings) -> list[Endpoint]:
    """Those that are reached over TLS."""
    found: list[Endpoint] = []
    url = settings.redis_url.get_secret_value()
    if url.startswith("rediss://"):
        parts = urlsplit(url)
        ca_file = None if settings.redis_ca_file is None else str(settings.redis_ca_file)
        found.append(Endpoint("redis", parts.hostname or "", parts.port or _REDIS, ca_file))
    endpoint = urlsplit(settings.s3_endpoint or "")
    if endpoint.scheme == "https":
        ca_file = None if settings.s3_ca_file is None else str(settings.s3_ca_file)
        found.append(Endpoint("store", endpoint.hostname or "", endpoint.port or _HTTPS, ca_file))
    return found


def expires_at(endpoint: Endpoint) -> float:
    """Seconds since 1970. Raises OSError where it cannot be reached, or proves itself with what we do not trust."""
    context = ssl.create_default_context(cafile=endpoint.ca_file)
    with (
        socket.create_connection((endpoint.host, endpoint.port), timeout=_TIMEOUT_S) as connection,
        context.wrap_socket(connection, server_hostname=endpoint.host) as secured,
    ):
        certificate = secured.getpeercert() or {}
    return ssl.cert_time_to_seconds(str(certificate["notAfter"]))


@dataclass
class Certificates:
    """Asked once an hour at most; one that cannot be reached is left out, which other figures tell of."""

    endpoints: list[Endpoint]
    _known: dict[str, float] = field(default_factory=dict)
    _asked: float = float("-inf")

    def __call__(self) -> Iterator[tuple[str, float]]:
        """Name and time of expiry, in seconds since 1970."""
        if time.monotonic() - self._asked > _KEPT_S:
            self._asked = time.monotonic()
            for endpoint in self.endpoints:
                with contextlib.suppress(OSError):
                    self._known[endpoint.name] = expires_at(endpoint)
        yield from self._known.items()
