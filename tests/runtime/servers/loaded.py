"""A program whose every start would load the same for a second is loaded once; each start is a copy of it (`door.py`).

On Linux only: elsewhere there is no file that tells of a process's end.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial

Work = Callable[[Sequence[str]], object]


def serve(path: str, work: Work) -> None:
    """For each who comes to the socket `path`, until it is killed: `work` with the words that it brings. It prints a
    line when anybody may come."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how the guards ended
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            connection, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _leave(partial(_guard, connection, work))
            connection.close()


def _guard(connection: socket.socket, work: Work) -> None:
    """Beside the copy that works: it tells the door of the copy's end, and ends it where the door has gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, files, _, _ = socket.recv_fds(connection, 4, 3)
    rest = connection.makefile("rb").read(int.from_bytes(head, "big"))
    worker = os.fork()
    if worker == 0:
        connection.close()
        _leave(partial(_work, json.loads(rest), files, work))
    for file in files:
        os.close(file)
    ended = os.pidfd_open(worker)
    readable, _, _ = select.select([connection.fileno(), ended], [], [])
    if ended not in readable:
        os.kill(worker, signal.SIGKILL)
    status = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    with contextlib.suppress(OSError):
        connection.sendall(bytes([status % 256]))


def _work(asked: dict[str, object], files: Sequence[int], work: Work) -> None:
    for place, file in enumerate(files):
        os.dup2(file, place)
        os.close(file)
    os.environ.clear()
    os.environ.update(asked["environment"])  # type: ignore[call-overload]  # of door.py
    os.chdir(str(asked["folder"]))
    work(asked["words"])  # type: ignore[arg-type]  # of door.py


def _leave(task: Callable[[], None]) -> None:
    """A copy never comes back to where it was copied."""
    status = 1
    try:
        task()
        sys.stdout.flush()
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it was, it is told, and this copy ends here
        traceback.print_exc()
    finally:
        os._exit(status)
