"""Saving a document over HTTP, and how long it takes until it is published, as a client sees it."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Sequence
from typing import Final, NamedTuple
from urllib.parse import quote

import httpx2

from .installation import Installation
from .processes import until

TEXT: Final = """# 手順 {name}

## フェーズ 1: 集める (使う道具: slack の history (read-only))

{number} 番目の版。

## フェーズ 2: 知らせる (使う道具: slack の notify)

結果を送る。
"""
_LOOK_S: Final = 0.005
_numbers = itertools.count(1)


class Saved(NamedTuple):
    document: str
    job: str
    sequence: int
    text: str


class Client:
    """One who saves through the API. What Redis or the server does not take is sent again."""

    def __init__(self, installation: Installation) -> None:
        self._installation = installation
        self._http = httpx2.Client(
            base_url=installation.url, headers={"authorization": f"Bearer {installation.token}"}, timeout=30
        )

    def close(self) -> None:
        self._http.close()

    def save(self, document: str, text: str = "") -> Saved:
        text = text or TEXT.format(name=document, number=next(_numbers))
        response = self._http.put(f"/v1/documents/{quote(document, safe='')}", content=text.encode())
        assert response.status_code == 202, response.text
        told = response.json()
        return Saved(document, told["job_id"], told["sequence"], text)

    def is_published(self, saved: Saved) -> bool:
        found = self._installation.archive.published(saved.document)
        return found is not None and found.sequence >= saved.sequence

    def wait(self, saved: Saved, within_s: float = 60.0) -> None:
        until(lambda: self.is_published(saved), within_s, f"{saved.document} is published")

    def latency_s(self, document: str, within_s: float = 60.0) -> float:
        """From the request to the moment in which its compile is published."""
        begun = time.perf_counter()
        saved = self.save(document)
        while not self.is_published(saved):
            if time.perf_counter() - begun > within_s:
                raise TimeoutError(f"{document} is not published within {within_s} s")
            time.sleep(_LOOK_S)
        return time.perf_counter() - begun


def p95(times_s: Sequence[float]) -> float:
    return statistics.quantiles(times_s, n=20)[-1]
