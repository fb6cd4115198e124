"""What processes take, as Linux tells it: processor time, memory, and what everybody else takes of the machine."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Self

_TICK: Final = os.sysconf("SC_CLK_TCK")
_URGENT: Final = -20
_PSS: Final = re.compile(r"^Pss:\s+(\d+) kB", re.MULTILINE)
_IDLE: Final = (3, 4)
"""Which columns of /proc/stat are of no work: idle, iowait."""


def children(pid: int) -> list[int]:
    return [int(child) for path in Path(f"/proc/{pid}/task").glob("*/children") for child in path.read_text().split()]


def family(pid: int) -> list[int]:
    """The process and all below it."""
    return [pid, *(below for child in children(pid) for below in family(child))]


def processor_ms(pid: int) -> float:
    """Of that process alone, since it began."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1_000 / _TICK


def family_ms(pid: int) -> float:
    return sum(map(processor_ms, family(pid)))


def memory_mb(pid: int) -> float:
    """PSS of that process alone: a page that several share counts once among them. Raises ValueError."""
    found = _PSS.search(Path(f"/proc/{pid}/smaps_rollup").read_text())
    if found is None:
        raise ValueError(f"/proc/{pid}/smaps_rollup has no Pss")
    return int(found[1]) / 1_024


@contextmanager
def urgent(pids: Iterable[int]) -> Iterator[None]:
    """These processes, all below them and this one go before everybody else's, where the system lets us: so that what
    they wait for is each other."""
    known = [*(below for pid in pids for below in family(pid)), os.getpid()]
    threads = [int(path.name) for pid in known for path in Path(f"/proc/{pid}/task").glob("*")]
    before = {thread: os.getpriority(os.PRIO_PROCESS, thread) for thread in threads}
    groups = {pid: niceness for pid in known if (niceness := _group_niceness(pid)) is not None}
    _set_niceness(dict.fromkeys(before, _URGENT), dict.fromkeys(groups, _URGENT))
    try:
        yield
    finally:
        _set_niceness(before, groups)


def _group_niceness(pid: int) -> int | None:
    """Of its session, among which Linux shares processors before it does among processes; None: it does not."""
    try:
        return int(Path(f"/proc/{pid}/autogroup").read_text().split()[-1])
    except (OSError, ValueError, IndexError):
        return None


def _set_niceness(threads: Mapping[int, int], groups: Mapping[int, int]) -> None:
    for thread, niceness in threads.items():
        with suppress(PermissionError, ProcessLookupError):
            os.setpriority(os.PRIO_PROCESS, thread, niceness)
    for pid, niceness in groups.items():
        with suppress(OSError):
            Path(f"/proc/{pid}/autogroup").write_text(str(niceness))


def _machine_ms() -> float:
    """What all processes of the machine took since it started, and what its host took from it."""
    columns = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    return sum(int(ticks) for place, ticks in enumerate(columns) if place not in _IDLE) * 1_000 / _TICK


class Stretch:
    """A stretch of time: how many cores others used in it, `pids` with all below them and this process left out."""

    def __init__(self, pids: Iterable[int]) -> None:
        self._pids = [*pids]
        self.seconds = self.others = 0.0

    def _ours(self) -> float:
        own = os.times()
        return sum(map(family_ms, self._pids)) + (own.user + own.system) * 1_000

    def __enter__(self) -> Self:
        self._begun, self._before = time.perf_counter(), _machine_ms() - self._ours()
        return self

    def __exit__(self, *_: object) -> None:
        self.seconds = time.perf_counter() - self._begun
        self.others = max(0.0, (_machine_ms() - self._ours() - self._before) / 1_000 / self.seconds)
