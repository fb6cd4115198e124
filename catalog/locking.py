"""Making a lock, comparing a project with it, and accepting what changed. Pure: it reads and writes no file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from catalog.drift import Drift, Facts, Kind, compare, facts_of
from catalog.fold import fold
from catalog.likeness import ENOUGH, name_likeness
from catalog.lock import DEFAULT_POLICY, Lock, LockedTool, Policy, locked_tool
from catalog.model import Tool

LookUp = Callable[[str], Tool | None]
"""A catalog's tool by name."""

Used = Mapping[str, Collection[str]]
"""The names of the operations in use, by their tool. A tool of unknown operations has none."""


class Accepted(NamedTuple):
    """`lock`: with what was accepted. `blocked`: what the policy does not let be accepted."""

    lock: Lock
    accepted: tuple[Drift, ...]
    blocked: tuple[Drift, ...]


def tool_drifts(locked: LockedTool, tool: Tool | None, others: Iterable[Tool]) -> tuple[Drift, ...]:
    """What became of one locked tool. `others`: what it may be called now; asked only where it is gone."""
    if tool is None:
        successor = _successor(locked, others)
        if successor is not None:
            return (Drift(locked.name, "", "tool-renamed", now=successor.name),)
        return (Drift(locked.name, "", "tool-removed"),)
    now = None if tool.operations is None else facts_of(tool.operations)
    return compare(locked.name, locked.operations, locked.listed, now)


def _successor(locked: LockedTool, others: Iterable[Tool]) -> Tool | None:
    """The tool that has most of its operations, else the one with nearly its name."""
    names = set(locked.listed or ()) | {facts.name for facts in locked.operations}
    best: tuple[float, str, Tool] | None = None
    for tool in others:
        offered = {operation.name for operation in tool.operations or ()}
        overlap = len(names & offered) / len(names | offered) if names | offered else 0.0
        likeness = name_likeness(locked.name, tool.name)
        score = (overlap + likeness) / 2 if names else likeness
        if (overlap >= ENOUGH or score >= ENOUGH) and (best is None or (score, tool.name) > best[:2]):
            best = (score, tool.name, tool)
    return None if best is None else best[2]


def renew(lock: Lock | None, documents: tuple[str, ...], used: Used, tool: LookUp, touched: Collection[Drift]) -> Lock:
    """The lock with what is used pinned and what is not used dropped.

    What is pinned already stays as it was pinned, drifted or not, and so does the absence of an added operation that is
    in use: `touched`, the drifts that concern some use, are for `accept`.
    """
    policy = DEFAULT_POLICY if lock is None else lock.policy
    held = {(drift.tool, drift.operation) for drift in touched}
    tools: list[LockedTool] = []
    for name in sorted(used):
        known = None if lock is None else lock.tool(name)
        now = tool(name)
        if now is None:
            continue
        tools.append(_renewed(known, now, used[name], held, policy))
    lost = () if lock is None else [t for t in lock.tools if tool(t.name) is None and (t.name, "") in held]
    return Lock(documents, policy, tuple(sorted((*tools, *lost), key=lambda entry: entry.name)))


def _renewed(
    known: LockedTool | None,
    now: Tool,
    used: Collection[str],
    held: Collection[tuple[str, str]],
    policy: Mapping[Kind, Policy],
) -> LockedTool:
    present = {facts.name: facts for facts in facts_of(now.operations or ())}
    pinned = {} if known is None else {facts.name: facts for facts in known.operations}
    name = now.name if known is None else known.name
    operations: dict[str, Facts] = {}
    for operation, facts in pinned.items():
        if operation in used or (name, operation) in held or (name, "") in held:
            operations[operation] = facts
    for operation in used:
        if operation in present and operation not in pinned and (name, operation) not in held:
            operations[operation] = present[operation]
    before = () if known is None else known.listed or ()
    listed: Collection[str] | None
    if now.operations is None:
        listed = before if (name, "") in held else None
    else:
        kept = {entry for entry in before if entry in present or (name, entry) in held}
        listed = kept | {entry for entry in present if (name, entry) not in held}
    return locked_tool(name, None if listed is None else tuple(listed), tuple(operations.values()), policy)


def accept(lock: Lock, drifts: Iterable[Drift], tool: LookUp) -> Accepted:
    """The lock with these drifts taken over from the catalog, operation by operation.

    An operation of which any change is blocked stays as it was pinned.
    """
    found = list(drifts)
    blocked = {(d.tool, d.operation) for d in found if lock.policy[d.kind] == "block"}
    taken = [drift for drift in found if (drift.tool, drift.operation) not in blocked]
    by_tool: dict[str, list[Drift]] = {}
    for drift in taken:
        by_tool.setdefault(fold(drift.tool), []).append(drift)
    tools: list[LockedTool] = []
    for locked in lock.tools:
        changes = by_tool.get(fold(locked.name), [])
        accepted = _accepted(locked, changes, tool(locked.name)) if changes else locked
        if accepted is not None:
            tools.append(accepted)
    refused = tuple(drift for drift in found if (drift.tool, drift.operation) in blocked)
    return Accepted(Lock(lock.documents, lock.policy, tuple(tools)), tuple(taken), refused)


def _accepted(locked: LockedTool, drifts: list[Drift], now: Tool | None) -> LockedTool | None:
    """None where the tool is gone: what took its place is pinned when it is used."""
    if now is None:
        return None
    if now.operations is None:
        return locked_tool(locked.name, None, (), locked.policy)
    present = {facts.name: facts for facts in facts_of(now.operations)}
    pinned = {facts.name: facts for facts in locked.operations}
    listed = set(locked.listed or ())
    renamed = {drift.operation: drift.now for drift in drifts if drift.now}
    for operation in {drift.operation for drift in drifts}:
        pinned.pop(operation, None)
        listed.discard(operation)
        name = renamed.get(operation, operation)
        if name in present:
            pinned[name] = present[name]
            listed.add(name)
    return locked_tool(locked.name, tuple(listed), tuple(pinned.values()), locked.policy)
