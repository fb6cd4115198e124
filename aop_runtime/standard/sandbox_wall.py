"""The wall around `sandbox`: which files, programs and limits its code gets."""

from __future__ import annotations

import json
import sys
import sysconfig
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from aop_runtime.confinement import bubblewrap, launch
from aop_runtime.declarations import Json

SCRATCH: Final = "/scratch"
CODE: Final = "/code"
LAUNCHER: Final = "launch.py"
_PYTHON: Final = "/opt/python"
PASSWD: Final = b"worker:x:1000:1000::/scratch:/bin/sh\n"
GROUP: Final = b"worker:x:1000:\n"

# What programs of the system need of /etc; none of it tells about people or secrets.
_ETC: Final = ("ld.so.cache", "alternatives", "localtime", "mime.types")


@dataclass(frozen=True, slots=True, kw_only=True)
class SandboxLimits:
    """`wall_s`, `cpu_s`: of one call, and of one process of it. `memory_bytes`: of one process, and of all together.
    `processes`: threads count. `output_bytes`: of standard output and of standard error. `file_bytes`: of one file;
    `scratch_bytes`, `scratch_entries`: of the scratch folder; `temporary_bytes`: of /tmp and of /dev/shm."""

    wall_s: float = 60.0
    cpu_s: int = 60
    memory_bytes: int = 512 * 1024 * 1024
    processes: int = 64
    output_bytes: int = 1024 * 1024
    file_bytes: int = 64 * 1024 * 1024
    scratch_bytes: int = 256 * 1024 * 1024
    scratch_entries: int = 10_000
    temporary_bytes: int = 64 * 1024 * 1024
    open_files: int = 256


@dataclass(frozen=True, slots=True)
class Interpreter:
    """`mounts`: arguments of bwrap that put it in. `program`: its path inside. `libraries`: where it looks for its
    shared library, if it has one."""

    mounts: tuple[str, ...]
    program: str
    libraries: str | None = None


@cache
def interpreter() -> Interpreter:
    """The one that we run in, without its packages of a virtual environment."""
    prefix = Path(sys.base_prefix).resolve()
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"
    if prefix.is_relative_to("/usr"):
        return Interpreter((), str(prefix / "bin" / name))
    # Elsewhere, often in somebody's home: its own path would tell whose.
    shared = bool(sysconfig.get_config_var("Py_ENABLE_SHARED"))
    mounts = ("--ro-bind", str(prefix), _PYTHON)
    return Interpreter(mounts, f"{_PYTHON}/bin/{name}", f"{_PYTHON}/lib" if shared else None)


def files(code: Mapping[str, int], etc: Mapping[str, int]) -> tuple[str, ...]:
    """What the code sees beside the scratch folder. Open files by name: of its own folder, and of /etc."""
    own = {f"{CODE}/{name}": opened for name, opened in code.items()} | {
        f"/etc/{n}": opened for n, opened in etc.items()
    }
    return (
        *bubblewrap.system(programs=True),
        # bwrap would make them for its own user only.
        *("--perms", "0755", "--dir", "/etc", "--perms", "0755", "--dir", "/opt"),
        *interpreter().mounts,
        *(part for entry in _ETC for part in ("--ro-bind-try", f"/etc/{entry}", f"/etc/{entry}")),
        *(part for path, opened in own.items() for part in ("--perms", "0444", "--ro-bind-data", str(opened), path)),
    )


def places(scratch: int, limits: SandboxLimits) -> tuple[str, ...]:
    """Where it can write, and the kernel's own file systems. `scratch`: the open folder."""
    size = str(limits.temporary_bytes)
    return (
        "--proc", "/proc",
        "--dev", "/dev",
        "--size", size, "--perms", "1777", "--tmpfs", "/dev/shm",  # noqa: S108 - of the sandbox
        "--remount-ro", "/dev",
        "--size", size, "--perms", "1777", "--tmpfs", "/tmp",  # noqa: S108 - of the sandbox
        "--bind-fd", str(scratch), SCRATCH,
        "--chdir", "/",
    )  # fmt: skip


def environment() -> tuple[str, ...]:
    values: dict[str, str] = {
        "PATH": f"{Path(interpreter().program).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": SCRATCH,
        "TMPDIR": "/tmp",  # noqa: S108 - of the sandbox
        "LANG": "C.UTF-8",
        "PYTHONPATH": SCRATCH,
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    libraries = interpreter().libraries
    if libraries is not None:
        values["LD_LIBRARY_PATH"] = libraries
    return tuple(part for name, value in values.items() for part in ("--setenv", name, value))


def command(language: str, limits: SandboxLimits, user: int | None) -> tuple[str, ...]:
    """What runs behind the wall: our launcher, which becomes the code's interpreter."""
    kernel: Mapping[str, int] = {
        "CPU": limits.cpu_s,
        "DATA": limits.memory_bytes,
        # Memory that is shared among processes is not DATA.
        "AS": 2 * limits.memory_bytes,
        "FSIZE": limits.file_bytes,
        "NPROC": limits.processes,
        "NOFILE": limits.open_files,
        "CORE": 0,
    }
    settings: dict[str, Json] = {"limits": dict(kernel), "user": user, "folder": SCRATCH}
    program = interpreter().program
    runs = [program, "-s", "-X", "utf8", f"{CODE}/main.py"] if language == "python" else ["/bin/sh", f"{CODE}/main.sh"]
    return (program, "-I", "-S", f"{CODE}/{LAUNCHER}", json.dumps(settings), *runs)


@cache
def launcher() -> bytes:
    return Path(launch.__file__).read_bytes()
