"""A comparison as JSON values (`aop diff --format json`, and over HTTP); the shape is described in `docs/cli.md`."""

from __future__ import annotations

from typing import Any, TypeAlias

from pipeline.diagnostics.json import diagnostic_dict
from pipeline.review.compare import Comparison, Fence, FenceChange, HandoverChange, PhaseChange, ToolChange
from pipeline.review.version import Access, Version, VersionPhase

Json: TypeAlias = dict[str, Any]
"""An object of JSON values: this module is where they are made, nobody takes them apart."""


def comparison_dict(comparison: Comparison) -> Json:
    return {
        "old": _version(comparison.old),
        "new": _version(comparison.new),
        "shared": {
            "text": list(comparison.shared_text),
            "fences": [_fence_change(change) for change in comparison.shared_fences],
        },
        "phases": [_phase_change(change) for change in comparison.phases],
        "diagnostics": {
            "appeared": [diagnostic_dict(found) for found in comparison.appeared],
            "gone": [diagnostic_dict(found) for found in comparison.gone],
        },
    }


def _version(version: Version) -> Json:
    return {"path": version.path, "name": version.name, "sha256": version.sha256}


def _phase(phase: VersionPhase | None) -> Json | None:
    return None if phase is None else {"number": phase.number, "title": phase.title}


def _phase_change(change: PhaseChange) -> Json:
    kind = "added" if change.old is None else "removed" if change.new is None else "changed"
    return {
        "change": kind,
        "old": _phase(change.old),
        "new": _phase(change.new),
        "moved": change.moved,
        "calls": None if change.calls is None else {"old": change.calls[0], "new": change.calls[1]},
        "tools": [_tool_change(tool) for tool in change.tools],
        "handovers": [_handover_change(handover) for handover in change.handovers],
        "text": list(change.text),
        "fences": [_fence_change(fence) for fence in change.fences],
    }


def _access(access: Access | None) -> Json | None:
    if access is None:
        return None
    operations = None if access.operations is None else list(access.operations)
    return {"declared": list(access.written), "operations": operations, "writes": access.writes}


def _tool_change(change: ToolChange) -> Json:
    return {
        "tool": change.tool,
        "old": _access(change.old),
        "new": _access(change.new),
        "granted": [{"operation": name, "effect": effect} for name, effect in change.granted],
        "withdrawn": [{"operation": name, "effect": effect} for name, effect in change.withdrawn],
        "begins_writing": change.begins_writing,
    }


def _handover_change(change: HandoverChange) -> Json:
    handover = change.handover
    return {
        "change": change.change,
        "tool": handover.tool,
        "mode": handover.mode,
        "operations": None if handover.operations is None else list(handover.operations),
        "argument": handover.argument,
        "placeholders": list(handover.placeholders),
        "writes": handover.writes,
    }


def _fence(fence: Fence | None) -> Json | None:
    return None if fence is None else {"language": fence[0], "text": fence[1]}


def _fence_change(change: FenceChange) -> Json:
    return {"old": _fence(change.old), "new": _fence(change.new), "diff": list(change.lines)}
