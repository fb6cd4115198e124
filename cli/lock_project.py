"""A project and its lock, read together: for the commands that make, compare and approve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from catalog.drift import Drift, Kind
from catalog.lock import DEFAULT_POLICY, Lock, Policy, read_lock
from catalog.locking import tool_drifts
from catalog.own import LOCK_FILE
from catalog.snapshot import Catalog
from cli.arguments import Setting
from cli.documents import open_catalog
from cli.tool_uses import Touched, Uses, uses_of
from cli.trouble import Trouble

PATH = Path(LOCK_FILE)


class LockProject(NamedTuple):
    """`names`: the documents as named, or as the lock has them. `drifts`: those that concern a document."""

    lock: Lock | None
    catalog: Catalog
    names: tuple[str, ...]
    uses: Uses
    drifts: tuple[tuple[Drift, tuple[Touched, ...]], ...]

    @property
    def policy(self) -> Mapping[Kind, Policy]:
        return DEFAULT_POLICY if self.lock is None else self.lock.policy


def open_project(names: Sequence[str], setting: Setting, *, needs_documents: bool) -> LockProject:
    """Raises Trouble where documents are needed and neither the line nor the lock names any, CatalogError, Unusable."""
    lock = read_lock(PATH)
    chosen = tuple(names) or (() if lock is None else lock.documents)
    if needs_documents and not chosen:
        raise Trouble("lock.no-documents")
    catalog = open_catalog(setting)
    uses = uses_of(chosen, setting, catalog) if chosen else Uses((), False)
    found: list[tuple[Drift, tuple[Touched, ...]]] = []
    for locked in () if lock is None else lock.tools:
        tool = catalog.tool(locked.name)
        for drift in tool_drifts(locked, tool, catalog.tools() if tool is None else ()):
            touched = uses.touched(drift)
            # What nobody uses may come and go: only what is pinned, or would be, has drifted.
            if touched or drift.kind != "operation-added":
                found.append((drift, touched))
    return LockProject(lock, catalog, chosen, uses, tuple(found))
