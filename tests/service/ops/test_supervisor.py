"""Given processes that one process keeps running, when they or it end, then they are started again, or end with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from workers.local import supervisor as supervisor_module
from workers.local.supervisor import Supervisor

from ..waiting import until

SLEEP = [sys.executable, "-c", "import time; print('begun', flush=True); time.sleep(600)"]


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    found = Supervisor({"GIVEN": "yes"}, tmp_path / "logs")
    yield found
    found.stop(patience_s=5)


def runs(pid: int) -> bool:
    """A zombie does not."""
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def pid_of(supervisor: Supervisor, name: str) -> int:
    found = supervisor.pid(name)
    assert found is not None
    return found


def test_a_child_has_the_environment_and_a_log(supervisor: Supervisor, tmp_path: Path) -> None:
    """Both of its streams go to one file, which a later start adds to."""
    code = "import os, sys; print(os.environ['GIVEN'], 'PATH' in os.environ); print('wrong', file=sys.stderr)"
    supervisor.add("child", [sys.executable, "-c", code])
    until(lambda: supervisor.pid("child") is None)
    text = (tmp_path / "logs" / "child.log").read_text()
    assert sorted(text.split()) == ["True", "wrong", "yes"]


def test_a_killed_child_is_started_again_with_a_pause(supervisor: Supervisor) -> None:
    """Its end is told once, with the signal."""
    supervisor.add("child", SLEEP)
    first = pid_of(supervisor, "child")
    assert supervisor.look() == []
    os.kill(first, signal.SIGKILL)
    told = until(supervisor.look)
    assert told == [("child", -signal.SIGKILL)]
    assert supervisor.pid("child") is None
    until(lambda: supervisor.look() == [] and supervisor.pid("child") is not None)
    assert pid_of(supervisor, "child") != first


def test_a_child_that_keeps_ending_is_started_less_and_less(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a mistake in the settings does not take the machine; one that ran well begins at once."""
    supervisor.add("child", [sys.executable, "-c", "raise SystemExit(3)"])
    child = supervisor._children["child"]
    pauses = []
    for _ in range(3):
        assert until(supervisor.look) == [("child", 3)]
        pauses.append(child.pause)
    assert pauses == [1.0, 2.0, 4.0]
    monkeypatch.setattr(supervisor_module, "_WELL_S", -1.0)
    until(supervisor.look)
    assert child.pause == supervisor_module._FIRST_PAUSE_S
    assert child.process is not None


def test_all_are_asked_to_end_and_made_to(supervisor: Supervisor, tmp_path: Path) -> None:
    """One that does not listen is killed after the patience, with what it started itself; nothing begins again."""
    marks = tmp_path / "pid"
    deaf = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(marks)!r}, 'w').write(str(child.pid)); time.sleep(600)"
    )
    supervisor.add("well", SLEEP)
    supervisor.add("deaf", [sys.executable, "-c", deaf])
    grandchild = int(until(lambda: marks.read_text() if marks.exists() else None))
    pids = [pid_of(supervisor, "well"), pid_of(supervisor, "deaf"), grandchild]
    supervisor.stop(patience_s=1.0)  # they would go on for ten minutes
    until(lambda: not any(map(runs, pids)))
    assert supervisor.look() == []
    assert supervisor.pid("well") is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system tells no child that its parent died")
def test_children_end_with_a_supervisor_that_is_killed(tmp_path: Path) -> None:
    """Without a word to them: the system tells them. Its Redis ends, too, or the next one would meet it."""
    code = f"""
import sys, time
from pathlib import Path
from workers.local.supervisor import Supervisor
from workers.local.valkey import Valkey
valkey = Valkey(Path({str(tmp_path)!r}) / "redis", bound=True); valkey.start()
supervisor = Supervisor({{}}, Path({str(tmp_path)!r}))
supervisor.add("child", {SLEEP!r})
print(valkey.pid, supervisor.pid("child"), flush=True)
time.sleep(600)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    pids = [int(pid) for pid in parent.stdout.readline().split()]
    assert all(map(runs, pids))
    parent.kill()
    parent.wait(timeout=120)
    parent.stdout.close()
    until(lambda: not any(map(runs, pids)))
