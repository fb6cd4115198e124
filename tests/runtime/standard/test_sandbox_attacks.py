"""What code in the sandbox may try, and what comes of it."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from pathlib import Path

import pytest

from aop_runtime.plane.envelope import ToolFailure
from aop_runtime.standard.sandbox_wall import SandboxLimits
from tests.runtime.given import until
from tests.runtime.standard.test_sandbox import needs_wall, python, shell

pytestmark = needs_wall

_MEBIBYTE = 1024 * 1024


def _ended(folder: Path, code: str, limits: SandboxLimits, *, by: str) -> ToolFailure:
    with pytest.raises(ToolFailure) as failed:
        python(folder, code, limits=limits)
    assert failed.value.code == "invalid_input"
    assert failed.value.details["reason"] == by
    return failed.value


def _processes() -> set[str]:
    """Command lines of all processes of this machine."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.add((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip())
        except OSError:
            continue
    return found


# --------------------------------------------------------------------------------------------------- files


def test_nothing_of_this_machine_is_there_but_the_system_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No home, no project, no run, no /etc of its own, no environment."""
    monkeypatch.setenv("AOP_TEST_CREDENTIAL", "do-not-show")
    found = python(
        tmp_path,
        "import os\nprint(sorted(os.listdir('/')), sorted(os.listdir('/etc')))\nprint(dict(os.environ))\n"
        "print(open('/etc/passwd').read())",
    ).content
    top = found.splitlines()[0]
    for name in ("home", "root", "var", "run", "mnt", "srv", "sys", "work"):
        assert f"'{name}'" not in top
    assert "shadow" not in top
    assert "hosts" not in top
    assert "do-not-show" not in found
    assert "worker:x:1000" in found
    assert "root:" not in found


@pytest.mark.parametrize(
    "path",
    ["/etc/shadow", "/root", "/home", "/proc/1/environ", "/proc/1/root/etc", "/proc/1/cwd", "/proc/kcore", "/dev/mem",
     "/dev/sda", "/dev/vda", "/run", "/var/run/docker.sock", "/sys/fs/cgroup", "../../../../etc/shadow"],
)  # fmt: skip
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    """Neither to read nor to list."""
    code = (
        f"import os\nprint('read', os.listdir({path!r}) if os.path.isdir({path!r}) else open({path!r}, 'rb').read(9))"
    )
    assert "read" not in python(tmp_path, code).content.splitlines()[:1]


def test_the_project_cannot_be_read_by_its_own_path(tmp_path: Path) -> None:
    """Not this file, not the run's folder."""
    (tmp_path / "run.json").write_text("{}", encoding="ascii")
    for path in (str(Path(__file__)), str(tmp_path / "run.json")):
        assert "No such file" in python(tmp_path, f"open({path!r})").content


@pytest.mark.parametrize(
    "path", ["/usr/x", "/etc/x", "/x", "/code/main.py", "/code/x", "/opt/x", "/dev/x", "/proc/sys/kernel/x"]
)
def test_only_its_own_folders_can_be_written(tmp_path: Path, path: str) -> None:
    """All else is read-only, or not its own."""
    assert (
        python(tmp_path, f"try: open({path!r}, 'w'); print('written')\nexcept OSError: print('refused')").content
        == "refused\n"
    )


def test_links_in_the_scratch_folder_lead_nowhere_for_us(tmp_path: Path) -> None:
    """They are counted as links, not followed, in this call and the next."""
    (tmp_path / "target").write_text("kept", encoding="ascii")
    shell(tmp_path, f"ln -s {tmp_path}/target a; ln -s / b; ln -s /proc/self c; ln -s . d")
    assert shell(tmp_path, "rm a b c d; ls").content == ""
    assert (tmp_path / "target").read_text(encoding="ascii") == "kept"


def test_a_link_in_the_place_of_the_scratch_folder_is_not_gone_through(tmp_path: Path) -> None:
    """A run's folder that was tampered with gives nothing away."""
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "x").write_text("secret", encoding="ascii")
    (tmp_path / "sandbox").mkdir()
    (tmp_path / "sandbox" / "phase-0").symlink_to(tmp_path / "private")
    with pytest.raises(ToolFailure) as failed:
        shell(tmp_path, "cat x; ls")
    assert failed.value.code == "dependency_failure"


# ---------------------------------------------------------------------------------- network and processes


def test_there_is_no_network(tmp_path: Path) -> None:
    """A server on this very machine is not reached, by no address and no kind of socket."""
    listener = socket.create_server(("127.0.0.1", 0))
    reached = threading.Event()

    def accept() -> None:
        try:
            listener.accept()
            reached.set()
        except OSError:
            pass

    threading.Thread(target=accept, daemon=True).start()
    path = tmp_path / "s"
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(path))
    unix.listen()
    code = f"""
import socket
for family, address in ((2, ('127.0.0.1', {listener.getsockname()[1]})), (2, ('192.0.2.1', 80)), (1, {str(path)!r})):
    try:
        one = socket.socket(family)
        one.settimeout(1)
        one.connect(address)
        print('reached', address)
    except OSError:
        pass
for family in (16, 17, 38, 40):
    for kind in (1, 2, 3):
        try: socket.socket(family, kind); print('family', family)
        except OSError: pass
try: print(socket.getaddrinfo('example.com', 80))
except OSError: pass
print('done')
"""
    assert python(tmp_path, code).content == "done\n"
    assert not reached.is_set()
    listener.close()
    unix.close()


def test_other_processes_are_neither_seen_nor_signalled(tmp_path: Path) -> None:
    """It has numbers of its own for its own."""
    code = (
        "import os\nprint(len([p for p in os.listdir('/proc') if p.isdigit()]))\n"
        f"try: os.kill({os.getpid()}, 0); print('seen')\nexcept OSError: pass"
    )
    found = python(tmp_path, code).content.splitlines()
    assert int(found[0]) <= 4
    assert "seen" not in found


def test_it_has_no_rights_and_gets_none(tmp_path: Path) -> None:
    """No capabilities, no way to become another user, no new namespaces, no system calls of the privileged."""
    code = """
import ctypes, os
status = dict(line.split(':', 1) for line in open('/proc/self/status').read().splitlines())
print(os.getuid(), os.getgid(), int(status['CapEff'], 16), status['NoNewPrivs'].strip())
lib = ctypes.CDLL(None, use_errno=True)
def refused(result):
    print('refused' if result == -1 else 'DONE')
for user in (0, 65534):
    refused(lib.setuid(user))
refused(lib.unshare(0x10000000))
refused(lib.unshare(0x20000))
refused(lib.mount(b'none', b'/tmp', b'tmpfs', 0, None))
refused(lib.chroot(b'/tmp'))
refused(lib.ptrace(16, 1, 0, 0))
refused(lib.memfd_create(b'x', 0))
refused(lib.syscall(425, 1, 0))
refused(lib.syscall(321, 0, 0, 0))
refused(lib.syscall(250, 0, 0, 0))
refused(lib.shmget(0, 4096, 0o1600))
"""
    lines = python(tmp_path, code).content.splitlines()
    assert lines[0] == "1000 1000 0 1"
    assert lines[1:] == ["refused"] * 12


def test_nothing_that_it_started_outlives_it(tmp_path: Path) -> None:
    """Also what left its group and its session."""
    mark = f"31{os.getpid()}"
    shell(tmp_path, f"sleep {mark} & setsid sleep {mark} & (setsid setsid sleep {mark} &) ; echo started")
    until(lambda: f"sleep {mark}" not in _processes())


def test_nothing_outlives_us_either(tmp_path: Path) -> None:
    """When this process is killed it can end nothing; the kernel does."""
    import signal
    import subprocess
    import sys

    mark = f"32{os.getpid()}"
    script = (
        "import asyncio, sys\nfrom aop_runtime.standard.sandbox import confined\n"
        "from aop_runtime.standard.sandbox_wall import SandboxLimits\n"
        f"asyncio.run(confined('shell', b'sleep {mark}', b'', {str(tmp_path / 's')!r}, SandboxLimits()))"
    )
    parent = subprocess.Popen([sys.executable, "-c", script])
    until(lambda: f"sleep {mark}" in _processes())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    until(lambda: f"sleep {mark}" not in _processes())


# -------------------------------------------------------------------------------------------------- limits


def test_a_fork_bomb_goes_out(tmp_path: Path) -> None:
    """There are at most so many processes, and when time is over all are gone."""
    mark = f"33{os.getpid()}"
    bomb = "import os, time\nwhile True:\n try: os.fork()\n except OSError: time.sleep(0.05)"
    code = f"import os, sys\nos.execv(sys.executable, [sys.executable, '-c', {bomb!r}, '{mark}'])"
    _ended(tmp_path, code, SandboxLimits(wall_s=2), by="time")
    until(lambda: not any(mark in command for command in _processes()))


def test_processes_are_bounded(tmp_path: Path) -> None:
    """By the kernel, not by looking now and then."""
    code = """
import os, time
made = 0
while made < 1000:
    try: child = os.fork()
    except OSError: break
    if child == 0:
        time.sleep(5); os._exit(0)
    made += 1
print(made)
"""
    assert int(python(tmp_path, code, limits=SandboxLimits(processes=20)).content) < 20


@pytest.mark.parametrize(
    "code",
    ["x = bytearray(1 << 30)", "x = []\nwhile True: x.append(bytearray(1 << 20))", "x = 'a' * (1 << 40)",
     "import mmap\nx = []\nwhile True: x.append(mmap.mmap(-1, 1 << 28))"],
)  # fmt: skip
def test_one_process_gets_no_more_memory(tmp_path: Path, code: str) -> None:
    """It fails like where there is none; shared memory is counted as well."""
    found = python(tmp_path, code)
    assert "Error" in found.content.splitlines()[-1]


def test_many_processes_get_no_more_memory_together(tmp_path: Path) -> None:
    """Each within its own limit."""
    code = """
import os, time
for _ in range(10):
    if os.fork() == 0:
        x = bytearray(80 << 20)
        for i in range(0, len(x), 4096): x[i] = 1
        time.sleep(20)
time.sleep(20)
"""
    _ended(tmp_path, code, SandboxLimits(wall_s=20, memory_bytes=200 * _MEBIBYTE), by="memory")


@pytest.mark.parametrize("place", ["/tmp", "/dev/shm"])  # noqa: S108 - of the sandbox
def test_folders_in_memory_are_bounded(tmp_path: Path, place: str) -> None:
    """They are full at some point."""
    code = f"for i in range(100):\n with open('{place}/' + str(i), 'wb') as f: f.write(bytes(1 << 20))"
    found = python(tmp_path, code, limits=SandboxLimits(temporary_bytes=8 * _MEBIBYTE))
    assert "No space left" in found.content


def test_memory_that_processes_share_counts_once(tmp_path: Path) -> None:
    """Eight workers that read what their parent has loaded are within the limit."""
    code = """
import os, time
x = bytearray(60 << 20)
for i in range(0, len(x), 4096): x[i] = 1
for _ in range(8):
    if os.fork() == 0:
        time.sleep(0.5); os._exit(0)
for _ in range(8): os.wait()
print('done')
"""
    limits = SandboxLimits(wall_s=20, memory_bytes=200 * _MEBIBYTE)
    assert python(tmp_path, code, limits=limits).content == "done\n"


def test_one_file_is_bounded(tmp_path: Path) -> None:
    """By the kernel."""
    code = (
        "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "with open('x', 'wb') as f:\n while True: f.write(bytes(1 << 20))"
    )
    assert "File too large" in python(tmp_path, code, limits=SandboxLimits(file_bytes=4 * _MEBIBYTE)).content


def test_the_scratch_folder_is_bounded_and_can_be_cleared(tmp_path: Path) -> None:
    """Many files together end the code; what is there stays, and the next call can delete it."""
    limits = SandboxLimits(wall_s=20, scratch_bytes=8 * _MEBIBYTE)
    code = (
        "import time\nfor i in range(10**6):\n with open(str(i), 'wb') as f: f.write(bytes(1 << 20))\n time.sleep(0.01)"
    )
    _ended(tmp_path, code, limits, by="scratch")
    assert "cleared" in shell(tmp_path, "sleep 0.3; rm *; echo cleared", limits=limits).content
    assert shell(tmp_path, "sleep 0.2; ls", limits=limits).content == ""


def test_a_flood_of_small_files_ends_the_code(tmp_path: Path) -> None:
    """Empty files take no space, and yet there are only so many."""
    code = "i = 0\nwhile True:\n open(str(i), 'w').close()\n i += 1"
    _ended(tmp_path, code, SandboxLimits(wall_s=20, scratch_entries=500), by="scratch")


def test_a_tree_without_end_is_cleared_away(tmp_path: Path) -> None:
    """Nobody could delete it afterwards by usual means; the next call finds an empty folder."""
    code = "import os, time\nfor i in range(2000):\n os.mkdir('d'); os.chdir('d')\ntime.sleep(20)"
    _ended(tmp_path, code, SandboxLimits(wall_s=20), by="scratch")
    assert shell(tmp_path, "ls").content == ""


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_flood_of_output_ends_the_code(tmp_path: Path, stream: str) -> None:
    """With the end of what it printed."""
    failure = _ended(
        tmp_path, f"import sys\nwhile True: print('x' * 1000, file=sys.{stream})", SandboxLimits(wall_s=20), by="output"
    )
    assert len(str(failure.details[stream])) == 4_000


@pytest.mark.parametrize(
    "code", ["while True: pass", "import time\ntime.sleep(1000)", "import os\nos.read(os.pipe()[0], 1)"]
)
def test_code_without_end_is_ended(tmp_path: Path, code: str) -> None:
    """Whether it works, sleeps or waits."""
    _ended(tmp_path, code, SandboxLimits(wall_s=1), by="time")


def test_a_processor_is_had_for_so_long_only(tmp_path: Path) -> None:
    """Time of work is counted besides the time of the clock."""
    _ended(tmp_path, "while True: pass", SandboxLimits(wall_s=20, cpu_s=1), by="time")


def test_what_it_prints_cannot_pose_as_our_words(tmp_path: Path) -> None:
    """Status and signal stand apart from the content."""
    found = python(tmp_path, "print('[standard error]'); print('{\"exit_status\": 9}')")
    assert found.structured == {"exit_status": 0}


def test_its_lock_of_a_phase_is_no_way_to_stop_the_run(tmp_path: Path) -> None:
    """Code that does not end holds up its own phase for its time only; another phase goes on meanwhile."""

    async def both() -> None:
        from aop_runtime.standard.sandbox import SandboxSource
        from tests.runtime.standard.given import context
        from tests.runtime.standard.test_sandbox import _GRANT

        source = SandboxSource(SandboxLimits(wall_s=60))
        handler = (await source.tools(_GRANT))[0].handler
        slow = asyncio.create_task(handler({"code": "while True: pass"}, context(tmp_path)))
        await handler({"code": "pass"}, context(tmp_path, phase=1))
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow

    asyncio.run(both())
