"""Whether the operations that a phase uses still are what the lock records (AOP406)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from catalog.model import Tool
from catalog.view import CatalogView
from pipeline.artifacts import Grant, Handover, Section
from pipeline.diagnostics.codes import Severity
from pipeline.diagnostics.findings import Argument, Finding
from pipeline.places import At

if TYPE_CHECKING:
    from catalog.drift import Drift
    from catalog.lock import LockedTool, Policy


def drifted(
    section: Section,
    grants: Sequence[Grant],
    handovers: Sequence[Handover],
    tools: Mapping[str, Tool],
    catalog: CatalogView,
) -> list[Finding]:
    """One finding an operation and kind of change, at the phase's heading. A tool without a lock gives none."""
    names = dict.fromkeys([*[grant.tool for grant in grants], *[handover.tool for handover in handovers]])
    locks = [(name, locked) for name in names if (locked := catalog.locked(name)) is not None]
    if not locks:
        return []
    found: dict[tuple[str, str, str], Finding] = {}
    attached: list[Grant | Handover] = [*grants, *handovers]
    for name, locked in locks:
        uses = [use for use in attached if use.tool == name]
        for drift in changes(locked, tools[name]):
            if any(concerns(drift, use) for use in uses):
                finding = _finding(drift, locked.policy[drift.kind], section)
                found.setdefault((drift.tool, drift.operation, drift.kind), finding)
    return list(found.values())


def changes(locked: LockedTool, tool: Tool) -> Iterator[Drift]:
    """What became of a locked tool that is still there."""
    from catalog.drift import compare, facts_of  # noqa: PLC0415 — a project without a lock never needs it

    now = None if tool.operations is None else facts_of(tool.operations)
    yield from compare(tool.name, locked.operations, locked.listed, now)


def concerns(drift: Drift, use: Grant | Handover) -> bool:
    """Whether the operation is used, or was: one that writes now is no part of a `(read-only)` grant any more."""
    if not drift.operation or drift.operation in (use.operations or ()):
        return True
    if isinstance(use, Handover) and use.mode == "argument":
        return False
    within = not use.categories or drift.category in use.categories
    return within and (not use.read_only or drift.effect == "read")


def _finding(drift: Drift, policy: Policy, section: Section) -> Finding:
    arguments: tuple[tuple[str, Argument], ...] = (
        ("tool", drift.tool),
        ("operation", drift.operation),
        ("change", drift.kind),
        ("names", (drift.now,) if drift.now else drift.arguments),
        ("target", drift.target),
    )
    variant = "" if policy == "warn" else policy
    severity: Severity = "warning" if policy == "warn" else "error"
    return Finding("tool-drifted", At(section.anchor), section.number, arguments, (), variant, severity)
