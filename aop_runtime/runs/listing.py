"""The runs of a folder, and how each stands. Nothing of the engine is needed to say so, and nothing of it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal

from aop_runtime.report import short
from aop_runtime.runs.folder import RunFault, RunFolder, all_runs
from aop_runtime.runs.record import JournalFault, read_record

Status = Literal["running", "finished", "waiting", "failed", "cancelled", "interrupted"]

_ENDS: Final[Mapping[str, Status]] = {
    "run-finished": "finished",
    "run-waiting": "waiting",
    "run-failed": "failed",
    "run-cancelled": "cancelled",
}


def status(folder: RunFolder) -> Status:
    """Raises RunFault, JournalFault."""
    if folder.is_held():
        return "running"
    end = read_record(folder.path).end
    return "interrupted" if end is None else _ENDS[end.event]


def listed(runs: Path) -> list[dict[str, str]]:
    """`run`, `status`, `procedure` and `input` (shortened) of each, the newest first; called ones among them."""
    found: list[dict[str, str]] = []
    for folder in all_runs(runs):
        try:
            plan, now = folder.plan(), str(status(folder))
        except (RunFault, JournalFault):
            found.append({"run": folder.run, "status": "unreadable", "procedure": "", "input": ""})
            continue
        found.append({"run": folder.run, "status": now, "procedure": plan.procedure, "input": short(plan.input)})
    return found
