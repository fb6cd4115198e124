"""A server that listens, and the other processes' work done when a test says so."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx2
from standardwebhooks.webhooks import Webhook

from server.app import create_app
from server.serve import Server
from workers.bulk.duties import Feeder, Offers, recompiles_of
from workers.catalogs import Sources, publish_catalog
from workers.context import open_context
from workers.heartbeat import Heart
from workers.settings import Settings
from workers.shell import Shell
from workers.tokens import SCOPES, Tokens

from ..celery_messages import take_all

WEBHOOK_SECRET = "whsec_" + base64.b64encode(b"the sender's secret, 32 bytes or").decode()
OLD_SECRET = "whsec_" + base64.b64encode(b"the secret that was used earlier").decode()
GITHUB_SECRET = " ".join(("a", "secret", "that", "github", "knows"))
BUCKET = "manuals"

GOOD = "# {name}\n\n## フェーズ 1: 集める\n\n(使う道具: sandbox)\n\n集計します。\n"
BAD = "# {name}\n\n## フェーズ 1: 集める\n\n(使う道具: sandbocks)\n\n集計します。\n"


def text(name: str = "月次", body: str = GOOD) -> str:
    return body.format(name=name)


def in_thread(server: Server) -> threading.Thread:
    """Started, and accepting requests when this returns. Raises RuntimeError where it ended before."""

    def serve() -> None:
        with contextlib.suppress(SystemExit):  # uvicorn's way to say that it could not start
            server.run()

    thread = threading.Thread(target=serve, name="server", daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        if not thread.is_alive():
            raise RuntimeError("the server ended before it listened; its log says why")
    return thread


class Running:
    """`client` is nobody; `as_token` gives one who has scopes."""

    def __init__(self, settings: Settings, sources: Sources | None = None) -> None:
        self.settings = settings
        self.app = create_app(settings)
        self.server = Server(self.app, settings)
        self._thread = in_thread(self.server)
        self.service = self.app.state.service
        self.url = f"http://127.0.0.1:{self.server.port}"
        self.client = self.as_text("")
        self._context = open_context(settings)
        self._shell = Shell(self._context, Heart(self._context.ledger), "test")
        self.publish(sources or Sources(None))

    # -------------------------------------------------------------------------------------------- clients

    @property
    def tokens(self) -> Tokens:
        found: Tokens = self.service.backend.tokens
        return found

    def token(self, *scopes: str, documents: Sequence[str] = (), name: str = "test", expires_ms: int = 0) -> str:
        return self.tokens.create(name=name, scopes=scopes or SCOPES, documents=documents, expires_ms=expires_ms)[1]

    def as_text(self, token: str, **headers: str) -> httpx2.Client:
        given = {"accept-language": "en", **headers}
        if token:
            given["authorization"] = f"Bearer {token}"
        # Without certificates, which nobody asks for here: to read them takes longer than most requests.
        return httpx2.Client(base_url=self.url, headers=given, timeout=320, verify=False)

    def as_token(self, *scopes: str, documents: Sequence[str] = (), **headers: str) -> httpx2.Client:
        return self.as_text(self.token(*scopes, documents=documents), **headers)

    # ---------------------------------------------------------------------------------------- saves and jobs

    def compile_all(self) -> None:
        """What dispatcher and workers would do until nothing is left."""
        while True:
            self._context.ledger.claim()
            messages = take_all(self._context.redis, self.settings.redis_prefix)
            if not messages:
                return
            for message in messages:
                self._shell.run(message.job, message.stage)

    def feed_all(self) -> int:
        """What dispatchers and workers would do for recompiles of many documents; how many jobs that were."""
        feeder = Feeder(recompiles_of(self._context), 8)
        count = 0
        while begun := feeder.step():
            count += begun
            self.compile_all()
        return count

    def offer(self) -> int:
        """What one dispatcher would do after the catalog changed; another one each time."""
        return Offers(self._context).step()

    def publish(self, sources: Sources) -> str:
        """Make another catalog the current one."""
        context = self._context
        return publish_catalog(sources, context.store, context.redis, self.settings.redis_prefix)

    def jobs(self) -> int:
        """How many jobs there are, ended or not."""
        return len(self.service.redis.keys(f"{self.settings.redis_prefix}:job:*"))

    def close(self) -> None:
        self.server.should_exit = True
        self._thread.join(15)
        self._context.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def signed(
    body: bytes, secret: str = WEBHOOK_SECRET, identity: str | None = None, at: float | None = None
) -> dict[str, str]:
    """The headers of Standard Webhooks."""
    from datetime import UTC, datetime

    identity = identity or f"msg_{uuid4().hex}"
    moment = datetime.fromtimestamp(time.time() if at is None else at, UTC)
    signature = Webhook(secret).sign(identity, moment, body.decode("utf-8", "replace"))
    return {
        "webhook-id": identity,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": signature,
        "content-type": "application/json",
    }


def signed_for_github(body: bytes, secret: str = GITHUB_SECRET, event: str = "push") -> dict[str, str]:
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return {"x-hub-signature-256": f"sha256={digest}", "x-github-event": event, "content-type": "application/json"}


def saved_event(document: str, revision: str | int, content: str = "# 文書\n") -> dict[str, Any]:
    return {
        "type": "document.saved",
        "timestamp": "2026-11-30T00:00:00Z",
        "data": {"document_id": document, "revision": revision, "content": content},
    }


def as_body(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def problem(response: httpx2.Response) -> tuple[int, str, Mapping[str, Any]]:
    """Status, code and details of an error. That it has the one form is checked on the way."""
    body = response.json()
    assert body.keys() == {"code", "message", "details"}
    assert body["message"]
    return response.status_code, body["code"], body["details"]
