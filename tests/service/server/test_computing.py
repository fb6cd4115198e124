"""Texts that are as dear as their authors like: looked through beside the server, within bounds, and never in the way
of others."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from server.computing import Computing

from ..waiting import until
from .mcp_client import Json, called, outcome, refused, rpc
from .running import Running, problem, text

MIB = 1024 * 1024
DEAR = "# x\n\n## フェーズ 1: 一\n\n" + "a\n\n" * (MIB // 3 - 20)
"""A megabyte of paragraphs: seconds of a processor, and 300 MB, until it is told that a phase is too long."""


@pytest.fixture
def roomy(run: Callable[..., Running]) -> Running:
    return run(max_document_bytes=MIB, max_body_bytes=4 * MIB)


def computing(running: Running) -> Computing:
    found: Computing = running.app.state.computing
    return found


def children() -> set[int]:
    """Of this process, by which the servers of the tests are run, those that compute."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):  # the thread ended meanwhile
            for child in (task / "children").read_text().split():
                with suppress(OSError):  # or the child
                    if b"anyio.to_process" in Path(f"/proc/{child}/cmdline").read_bytes():
                        found.add(int(child))
    return found


@contextmanager
def asked(running: Running, count: int, token: str = "") -> Iterator[list[Future[tuple[Json, bool]]]]:
    """So many checks at once, of as many tokens unless one is given; a child has begun when this begins."""
    tokens = [token or running.token() for _ in range(count)]
    with ThreadPoolExecutor(count) as threads:
        futures = [threads.submit(outcome, running, one, "check_aop", "2026-07-28", text=DEAR) for one in tokens]
        until(children)
        yield futures


def test_others_are_answered_meanwhile(roomy: Running) -> None:
    """Four of them, on two processors: health, tools, documents and saves are answered before the first one ends; and
    each of the four is answered itself."""
    client, token = roomy.as_token(), roomy.token()
    with asked(roomy, 4) as checks:
        for number in range(10):
            assert client.get("/healthz").status_code == 200
            assert client.get("/readyz").status_code == 200
            assert client.get("/v1/documents").status_code == 200
            assert client.put(f"/v1/documents/a{number}.md", content=text()).status_code == 202
            assert rpc(roomy, "tools/list", token=token).status_code == 200
        assert not any(check.done() for check in checks)
        assert len(children()) <= 2
        answers = [check.result() for check in checks]
    for answer, failed in answers:
        # Where others keep the processors busy, that it takes too long is an answer, too: in its turn, or until then.
        late = failed and (answer["code"] == "dependency_failure" or answer["details"]["resource"] == "time")
        assert late or [error["name"] for error in answer["errors"]] == ["document-too-large"]


def test_nobody_takes_all_places(roomy: Running) -> None:
    """One at a time of each token: another's check does not wait for the third of somebody's."""
    other = roomy.token()
    with asked(roomy, 3, token=roomy.token()) as checks:
        assert called(roomy, other, "check_aop", text=text())["status"] == "succeeded"
        assert sum(check.done() for check in checks) < 3


@pytest.mark.parametrize(("lang", "word"), [("ja", "秒"), ("en", "within")])
def test_time(roomy: Running, lang: str, word: str) -> None:
    """Over it: said in the language that is asked for, and the child is gone; the next text has a new one."""
    found = computing(roomy)
    token = roomy.token()
    called(roomy, token, "check_aop", text=text())
    before = children()
    whole, found.bounds = found.bounds, replace(found.bounds, seconds=0.3)
    params = {"name": "check_aop", "arguments": {"text": DEAR}}
    answer = rpc(roomy, "tools/call", params, token=token, headers={"accept-language": lang}).json()["result"]
    error = answer["structuredContent"]
    assert (answer["isError"], error["code"]) == (True, "invalid_input")
    assert error["details"] == {"resource": "time", "limit": 0}
    assert word in error["message"]
    assert not before & children()
    found.bounds = whole
    assert called(roomy, token, "check_aop", text=text())["status"] == "succeeded"


@pytest.mark.skipif(sys.platform == "darwin", reason="has no limit that counts what is asked for")
def test_memory(roomy: Running) -> None:
    """Over it: the same; a text that needs little fits beside it."""
    found = computing(roomy)
    found.bounds = replace(found.bounds, megabytes=100, seconds=60)
    token = roomy.token()
    assert called(roomy, token, "check_aop", text=text())["status"] == "succeeded"
    before = children()
    error = refused(roomy, token, "check_aop", text=DEAR)
    assert error["details"] == {"resource": "memory", "limit": 100}
    assert "100 MB" in error["message"]
    assert not before & children()
    assert called(roomy, token, "check_aop", text=text())["status"] == "succeeded"


def test_a_child_that_is_killed(roomy: Running) -> None:
    """By the system, for its memory: an answer, and a new child."""
    token = roomy.token()
    with asked(roomy, 1, token=token) as checks:
        for child in children():
            os.kill(child, signal.SIGKILL)
        answer, failed = checks[0].result()
    assert failed
    assert answer["details"]["resource"] == "memory"
    assert called(roomy, token, "check_aop", text=text())["status"] == "succeeded"


def test_a_server_that_is_killed() -> None:
    """Its children end by themselves, a moment after it would have ended them."""
    program = """
import time
from server.computed import Bounds, begin
def work(*, project, max_bytes):
    time.sleep(60)
begin(work, None, Bounds(1024, -4.0, 1024))
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=50, check=False)
    assert done.returncode == -signal.SIGALRM


def test_a_comparison_that_takes_too_long(roomy: Running, document: str) -> None:
    """Thousands of fences, half of which changed, in the time of a few: refused, and the server goes on."""
    found = computing(roomy)
    client = roomy.as_token()
    for version in ("a", "b"):
        fences = "".join(f"```\n{version if number % 2 else 'c'}\n```\n\n" for number in range(3_000))
        written = f"# x\n\n## フェーズ 1: 一\n\n{fences}"
        assert client.put(f"/v1/documents/{document}", content=written).status_code == 202
        roomy.compile_all()
    found.bounds = replace(found.bounds, seconds=0.01)
    status, code, details = problem(client.get(f"/v1/documents/{document}/diff"))
    assert (status, code, details) == (422, "invalid_input", {"resource": "time", "limit": 0})
    assert client.get("/healthz").status_code == 200


def test_calls_are_read_beside_the_project(roomy: Running) -> None:
    """A text that calls others is looked through a second time, with the names of all that there are."""
    client, token = roomy.as_token(), roomy.token()
    assert client.put("/v1/documents/keiri/seikyu.md", content=text("請求")).status_code == 202
    roomy.compile_all()
    written = "# x\n\n## フェーズ 1: 一 (呼び出す AOP: {})\n"
    found: dict[str, Any] = {
        name: called(roomy, token, "check_aop", text=written.format(name)) for name in ("請求", "請求書")
    }
    assert found["請求"]["status"] == "succeeded"
    assert found["請求"]["phases"][0]["calls"] == "請求"
    assert [entry["suggestions"] for entry in found["請求書"]["errors"]] == [["請求"]]
