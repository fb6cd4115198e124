"""Writing files so that nobody ever sees half of one, and so that nothing temporary stays for ever."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

_TEMPORARY = re.compile(r"\.aop-(\d{1,10})-[0-9a-f]{8}\.tmp")

_OLD_S = 24 * 3600
"""Nobody writes for a day: what is older was left behind, whoever has its process number now."""


def beside(path: Path) -> Path:
    """A hidden name in the same folder that no other process or thread uses, whatever the file system's limit."""
    return path.with_name(hidden_name())


def hidden_name() -> str:
    """A name for `beside`, without the folder."""
    return f".aop-{os.getpid()}-{os.urandom(4).hex()}.tmp"


_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_new(path: Path | str, data: bytes) -> None:
    """Write a file that must not be there yet, to its end. Raises OSError."""
    # As `open(path, "xb")` does it; a file object of Python's takes as long to make as the file takes to write.
    descriptor = os.open(path, _NEW, 0o666)
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, memoryview(data)[written:])
    finally:
        os.close(descriptor)


def replace_file(path: Path, data: bytes) -> None:
    """Have the file hold `data`; it is replaced whole or stays as it was. A link stays one, and what is no file (a
    device, a pipe) is written to. Raises OSError."""
    try:
        target = Path(os.path.realpath(path))
        if target.exists() and not target.is_file():
            target.write_bytes(data)
        else:
            _replace(target, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _replace(path: Path, data: bytes) -> None:
    temporary = beside(path)
    try:
        write_new(temporary, data)
        temporary.replace(path)
    except BaseException:  # an interrupt, too, leaves nothing behind
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def sweep(folder: Path) -> None:
    """Remove what processes that were killed left in the folder under names of `beside`. What another machine or
    container is writing just now looks the same: whoever finds its file gone begins again."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(".aop-")]
    except OSError:
        return
    for name in names:
        match = _TEMPORARY.fullmatch(name)
        if match and abandoned(folder / name, int(match[1])):
            _remove(folder / name)


def abandoned(path: Path, process: int) -> bool:
    """Whether the process of that number, which made the temporary file or folder, will not come back to it."""
    try:
        if time.time() - path.stat().st_mtime > _OLD_S:
            return True
        if os.name != "posix":  # where asking for a process would end it
            return False
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


def _remove(path: Path) -> None:
    from shutil import rmtree  # noqa: PLC0415 - hardly ever needed

    if path.is_dir() and not path.is_symlink():
        rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink()
