"""The files in which a worker's or server's processes share their counters (prometheus-client's multiprocess mode).

`AOP_METRICS_FOLDER` holds one folder for each group of processes: a parent and its children. The group empties it when
it starts. A child's files stay when it ends, since its counts still count; `compact` puts those of the dead together,
so that a child that is killed every second does not fill the disk.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.core import Metric

_VARIABLE: Final = "PROMETHEUS_MULTIPROC_DIR"
_DEAD: Final = 0
"""In place of a process's number: that of all dead ones."""


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
    os.environ[_VARIABLE] = str(own)
    return own


def mark_dead(pid: int) -> None:
    """A child of this process has ended."""
    folder = os.environ.get(_VARIABLE)
    if folder is not None:
        from prometheus_client.multiprocess import mark_process_dead  # noqa: PLC0415 - see `use`

        mark_process_dead(pid, folder)


def compact(folder: Path, alive: Iterable[int]) -> int:
    """Put the counts of all but the `alive` processes into one file a kind. How many files went.

    For the parent only: nobody else writes the dead's files. A scrape in between may see a count twice or not at all,
    which Prometheus takes for a restart.
    """
    from prometheus_client.mmap_dict import MmapedDict  # noqa: PLC0415 - see `use`

    living = {str(pid) for pid in alive}
    gone: dict[str, list[Path]] = defaultdict(list)
    for path in folder.glob("*.db"):
        kind, _, pid = path.stem.rpartition("_")
        if kind in ("counter", "histogram", "summary") and pid not in living:
            gone[kind].append(path)
    count = 0
    for kind, paths in gone.items():
        own = folder / f"{kind}_{_DEAD}.db"
        if paths == [own]:
            continue
        totals: dict[str, float] = defaultdict(float)
        for path in paths:
            for key, value, _, _ in MmapedDict.read_all_values_from_file(str(path)):
                totals[key] += value
        fresh = folder / f"{kind}_{_DEAD}.db.new"
        fresh.unlink(missing_ok=True)
        values = MmapedDict(str(fresh))
        for key, value in totals.items():
            values.write_value(key, value, 0.0)
        values.close()
        fresh.replace(own)
        for path in paths:
            if path != own:
                path.unlink(missing_ok=True)
                count += 1
    return count


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

        files = [str(path) for path in self._folder.glob(f"{self._groups}/*.db")]
        found: Iterable[Metric] = MultiProcessCollector.merge(files)
        return found


def registry_of(own: Path | None) -> CollectorRegistry:
    """What a process shows of itself and its children: `use` gave `own`."""
    from prometheus_client import REGISTRY, CollectorRegistry  # noqa: PLC0415 - see `use`

    if own is None:
        return REGISTRY
    registry = CollectorRegistry()
    registry.register(GroupCollector(own.parent, own.name))
    return registry
