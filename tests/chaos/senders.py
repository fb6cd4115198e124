"""Those who save: each message is sent again until it is accepted, as senders of Standard Webhooks do, and some once
more after that."""

from __future__ import annotations

import base64
import heapq
import itertools
import json
import random
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, NamedTuple
from urllib.parse import quote

import httpx2
from standardwebhooks.webhooks import Webhook

from .plan import Message

WEBHOOK_SECRET: Final = "whsec_" + base64.b64encode(b"what only the sender knows, 32 by").decode()
ACCEPTED: Final = 202
_FIRST_PAUSE_S: Final = 0.2
_LONGEST_PAUSE_S: Final = 2.0


class Answer(NamedTuple):
    """Of the server. `status`: accepted or superseded."""

    status: str
    job: str
    sequence: int


@dataclass(slots=True)
class Answers:
    """What each message was told, by its identity; `failed`: how often it was told nothing, or to come again."""

    sent: dict[str, Message] = field(default_factory=dict)
    given: defaultdict[str, list[Answer]] = field(default_factory=lambda: defaultdict(list))
    failed: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


class Senders:
    """`url`: of the server; `token`: for the API."""

    def __init__(self, url: str, token: str, threads: int = 8) -> None:
        self.answers = Answers()
        self._url = url
        self._token = token
        self._waiting: list[tuple[float, int, Message, int]] = []
        self._numbers = itertools.count()
        self._changed = threading.Condition()
        self._under_way = 0
        self._end = False
        self._begun = time.monotonic()
        self._threads = [threading.Thread(target=self._run, name=f"sender-{n}", daemon=True) for n in range(threads)]

    def start(self) -> None:
        self._begun = time.monotonic()
        for thread in self._threads:
            thread.start()

    def add(self, message: Message) -> None:
        with self._changed:
            self.answers.sent[message.identity] = message
            self._push(message, message.at, 0)

    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._begun

    def left(self) -> int:
        """How many messages are still to be sent, or to be sent again."""
        with self._changed:
            return len(self._waiting) + self._under_way

    def stop(self) -> None:
        with self._changed:
            self._end = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join(20)

    def _push(self, message: Message, at: float, tried: int) -> None:
        heapq.heappush(self._waiting, (at, next(self._numbers), message, tried))
        self._changed.notify()

    def _run(self) -> None:
        with httpx2.Client(base_url=self._url, timeout=15) as client:
            while True:
                with self._changed:
                    while not self._end and (not self._waiting or self._waiting[0][0] > self.now()):
                        self._changed.wait(0.05)
                    if self._end:
                        return
                    _, _, message, tried = heapq.heappop(self._waiting)
                    self._under_way += 1
                try:
                    self._send(client, message, tried)
                finally:
                    with self._changed:
                        self._under_way -= 1

    def _send(self, client: httpx2.Client, message: Message, tried: int) -> None:
        try:
            response = send(client, message, self._token)
            again = response.status_code in (429, 500, 502, 503)
            reason = str(response.status_code)
        except httpx2.HTTPError as error:
            again, reason = True, type(error).__name__
        with self._changed:
            if again:
                self.answers.failed[reason] += 1
                pause = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2**tried) * random.uniform(0.5, 1)
                self._push(message, self.now() + pause, tried + 1)
            elif response.status_code != ACCEPTED:
                self.answers.refused.append(f"{message.identity}: {response.status_code} {response.text}")
            else:
                told = response.json()
                given = self.answers.given[message.identity]
                given.append(Answer(told["status"], told["job_id"], told["sequence"]))
                if message.replay and len(given) == 1:
                    self._push(message, self.now() + message.replay, 0)


def send(client: httpx2.Client, message: Message, token: str) -> httpx2.Response:
    """Raises httpx2.HTTPError."""
    if message.sender == "api":
        return client.put(
            f"/v1/documents/{quote(message.document, safe='')}",
            params={"revision": str(message.revision), "source": "chaos"},
            headers={"authorization": f"Bearer {token}", "idempotency-key": message.identity},
            content=message.text.encode(),
        )
    data = {"document_id": message.document, "revision": message.revision, "content": message.text}
    event = {"type": "document.saved", "timestamp": "2026-11-30T00:00:00Z", "data": data}
    body = json.dumps(event, ensure_ascii=False)
    return client.post("/v1/hooks/document-saved", headers=signed(message.identity, body), content=body.encode())


def signed(identity: str, body: str, secret: str = WEBHOOK_SECRET, at: float | None = None) -> dict[str, str]:
    """The headers of Standard Webhooks. `at`: seconds since 1970, None: now."""
    moment = datetime.fromtimestamp(time.time() if at is None else at, UTC)
    return {
        "webhook-id": identity,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": Webhook(secret).sign(identity, moment, body),
        "content-type": "application/json",
    }
