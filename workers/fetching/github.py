"""A file of a commit, by GitHub's contents API (github.com or an Enterprise server)."""

from __future__ import annotations

import time
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

import httpx2

from workers.fetching.faults import FetchError
from workers.records import GithubReference
from workers.settings import Settings

CONNECT_S: Final = 5.0
READ_S: Final = 10.0
WHOLE_S: Final = 30.0
_REDIRECTS: Final = 3
"""A repository that was renamed answers with its new address."""

_RAW: Final = "application/vnd.github.raw+json"
_VERSION: Final = "2022-11-28"


class GithubFetcher:
    """One connection pool; threads may share it. Close it."""

    def __init__(self, settings: Settings) -> None:
        self._api = settings.github_api.rstrip("/")
        self._repositories = frozenset(name.casefold() for name in settings.github_repositories)
        self._most = settings.max_document_bytes
        headers = {"accept": _RAW, "x-github-api-version": _VERSION, "user-agent": "aop"}
        if settings.github_token is not None:
            headers["authorization"] = f"Bearer {settings.github_token.get_secret_value()}"
        self._client = httpx2.Client(
            headers=headers, timeout=httpx2.Timeout(READ_S, connect=CONNECT_S), follow_redirects=False
        )

    def fetch(self, reference: GithubReference) -> bytes:
        """Raises FetchError."""
        where = f"{reference.repository}@{reference.commit[:12]}:{reference.path}"
        if reference.repository.casefold() not in self._repositories:
            raise FetchError("forbidden", where, "AOP_GITHUB_REPOSITORIES")
        owner, _, name = reference.repository.partition("/")
        place = "/".join(quote(part, safe="") for part in ("repos", owner, name, "contents"))
        path = "/".join(quote(part, safe="") for part in reference.path.split("/"))
        url = f"{self._api}/{place}/{path}?ref={quote(reference.commit, safe='')}"
        deadline = time.monotonic() + WHOLE_S
        try:
            for _ in range(_REDIRECTS + 1):
                found = self._get(url, where, deadline)
                if isinstance(found, bytes):
                    return found
                url = self._same_place(url, found, where)
        except httpx2.HTTPError as error:
            raise FetchError("unreachable", where, type(error).__name__) from error
        raise FetchError("unusable", where, "redirects")

    def _get(self, url: str, where: str, deadline: float) -> bytes | str:
        """The content, or the address that it is said to be at."""
        with self._client.stream("GET", url) as response:
            if response.status_code in (301, 302, 307, 308):
                return response.headers.get("location", "")
            if response.status_code != httpx2.codes.OK:
                raise _refusal(response, where)
            data = bytearray()
            for chunk in response.iter_bytes():
                data += chunk
                if len(data) > self._most:
                    break
                if time.monotonic() > deadline:
                    raise FetchError("unreachable", where, f"more than {WHOLE_S:.0f} s")
            return bytes(data[: self._most + 1])

    def _same_place(self, url: str, location: str, where: str) -> str:
        """Never to another host: the token goes along."""
        target = urljoin(url, location)
        own, other = urlsplit(self._api), urlsplit(target)
        if not location or (own.scheme, own.netloc) != (other.scheme, other.netloc):
            raise FetchError("unusable", where, "redirect to another host")
        return target

    def close(self) -> None:
        self._client.close()


def _refusal(response: httpx2.Response, where: str) -> FetchError:
    status = response.status_code
    after = _seconds(response.headers.get("retry-after"))
    if status == httpx2.codes.TOO_MANY_REQUESTS or (
        status == httpx2.codes.FORBIDDEN and (after is not None or response.headers.get("x-ratelimit-remaining") == "0")
    ):
        return FetchError("limited", where, str(status), after)
    if status in (httpx2.codes.NOT_FOUND, httpx2.codes.GONE):
        return FetchError("missing", where)
    if status in (httpx2.codes.UNAUTHORIZED, httpx2.codes.FORBIDDEN):
        return FetchError("denied", where)
    return FetchError("unreachable" if status >= 500 else "unusable", where, str(status), after)


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 7 else None
