"""The files in which a worker's or server's processes share their counters (prometheus-client's multiprocess mode).

`AOP_METRICS_FOLDER` holds one folder for each group of processes: a parent and its children. The group empties it when
it starts, so two of one group need folders of their own. A child's files stay when it ends, since its counts still
count; `compact` puts those of the dead together, so that a child that is killed every second does not fill the disk.
A live gauge says what is so now: that of a process which has ended is neither shown nor kept.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_DEAD: Final = 0
"""In place of a process's number: that of all dead ones."""
_LOCK: Final = "lock"
_KINDS: Final = ("counter", "histogram", "summary")
_LIVE: Final = "gauge_live"
_DAMAGE: Final = (OSError, struct.error, RuntimeError, ValueError)
"""What prometheus-client raises for a file that is not whole, or has gone."""


def use(folder: Path | None, group: str) -> Path | None:
    """Have this process and its children count in `folder/group`, emptied first; None: each counts for itself.

    Raises OSError, and RuntimeError where prometheus-client has been imported already.
    """
    if folder is None:
        return None
    if "prometheus_client" in sys.modules:
        raise RuntimeError("the metrics folder must be chosen before prometheus_client is imported")
    own = folder / group
    own.mkdir(parents=True, exist_ok=True)
    for path in own.glob("*.db"):
        path.unlink(missing_ok=True)
    (own / _LOCK).touch()
    os.environ[_VARIABLE] = str(own)
    return own


def compact(folder: Path) -> int:
    """Put the counts of processes that have ended into one file a kind, without their live gauges. How many files went.

    For the parent only, whose children wrote them. Whoever reads the folder meanwhile waits.
    """
    from prometheus_client.mmap_dict import MmapedDict  # noqa: PLC0415 - see `use`

    gone: dict[str, list[Path]] = defaultdict(list)
    for path in folder.glob("*.db"):
        kind, _, pid = path.stem.rpartition("_")
        # The files were listed first: a child that starts now is not among them.
        if kind in _KINDS and pid.isdecimal() and not _runs(int(pid)):
            gone[kind].append(path)
    count = 0
    for path in folder.glob("*.db"):
        if _is_past(path):
            path.unlink(missing_ok=True)
            count += 1
    for kind, paths in gone.items():
        own = folder / f"{kind}_{_DEAD}.db"
        if paths == [own]:
            continue
        totals: dict[str, float] = defaultdict(float)
        for path in paths:
            for key, value in _values(path):
                totals[key] += value
        fresh = folder / f"{kind}_{_DEAD}.db.new"
        fresh.unlink(missing_ok=True)
        values = MmapedDict(str(fresh))
        for key, value in totals.items():
            values.write_value(key, value, 0.0)
        values.close()
        with _alone(folder, fcntl.LOCK_EX):
            fresh.replace(own)
            for path in paths:
                if path != own:
                    path.unlink(missing_ok=True)
                    count += 1
    return count


def _runs(pid: int) -> bool:
    if pid == _DEAD:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _is_past(path: Path) -> bool:
    """Whether it holds live gauges of a process that has ended."""
    kind, _, pid = path.stem.rpartition("_")
    return kind.startswith(_LIVE) and pid.isdecimal() and not _runs(int(pid))


def _read(path: Path) -> Iterator[tuple[str, float]]:
    """Raises one of _DAMAGE where the file is not whole: its process may have been killed in the middle of a write."""
    from prometheus_client.mmap_dict import MmapedDict  # noqa: PLC0415 - see `use`

    for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path)):
        json.loads(key)
        yield key, value


def _values(path: Path) -> Iterator[tuple[str, float]]:
    """As far as the file can be read."""
    try:
        yield from _read(path)
    except _DAMAGE:
        return


def _is_whole(path: Path) -> bool:
    try:
        for _ in _read(path):
            pass
    except _DAMAGE:
        return False
    return True


@contextmanager
def _alone(folder: Path, how: int) -> Iterator[None]:
    """A count that is moved is neither seen twice nor missed. Raises OSError."""
    with (folder / _LOCK).open("rb") as lock:
        fcntl.flock(lock, how)
        yield


class GroupCollector:
    """All groups' counts in `folder` together, for a registry."""

    def __init__(self, folder: Path, groups: str = "*") -> None:
        self._folder = folder
        self._groups = groups

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: else a registry would read the files to see what they hold."""
        return ()

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.multiprocess import MultiProcessCollector  # noqa: PLC0415 - see `use`

        with ExitStack() as locks:
            for group in sorted(self._folder.glob(self._groups)):
                if (group / _LOCK).exists():
                    locks.enter_context(_alone(group, fcntl.LOCK_SH))
            files = sorted(path for path in self._folder.glob(f"{self._groups}/*.db") if not _is_past(path))
            try:
                return _merged(MultiProcessCollector.merge, files)
            except _DAMAGE:
                # One that has just been made, or whose process was killed as it wrote: without it.
                return _merged(MultiProcessCollector.merge, [path for path in files if _is_whole(path)])


def _merged(merge: Callable[[list[str]], Iterable[Metric]], files: Iterable[Path]) -> Iterable[Metric]:
    return list(merge([str(path) for path in files]))


def registry_of(own: Path | None) -> CollectorRegistry:
    """What a process shows of itself and its children: `use` gave `own`."""
    from prometheus_client import REGISTRY, CollectorRegistry  # noqa: PLC0415 - see `use`

    if own is None:
        return REGISTRY
    registry = CollectorRegistry()
    registry.register(GroupCollector(own.parent, own.name))
    return registry
