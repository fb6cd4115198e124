"""What became of a tool's operations: between the lock and the catalog, or between the catalog and a live server."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Literal, TypeAlias, get_args

from catalog.model import Effect, Operation
from catalog.nodes import Json
from catalog.schema_change import ArgumentChange, compare_schemas

Kind: TypeAlias = Literal[
    "tool-removed",
    "tool-renamed",
    "operations-unknown",
    "operation-added",
    "operation-removed",
    "operation-renamed",
    "effect-writes",
    "effect-reads",
    "schema-breaking",
    "schema-changed",
    "description-changed",
]

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is compared of an operation. `schema`: canonical JSON, "" for none; `description`: its sha256."""

    name: str
    category: str | None
    effect: Effect
    description: str
    schema: str

    @property
    def schema_digest(self) -> str:
        return digest(self.schema)


@dataclass(frozen=True, slots=True)
class Drift:
    """One change of one operation; of the tool as a whole where `operation` is "".

    `category` and `effect`: of the operation as it was (an added one's as it is), by which it belongs to a declaration.
    `now`: what it is called now, where it was renamed. `changes`: of its arguments.
    """

    tool: str
    operation: str
    kind: Kind
    category: str | None = None
    effect: Effect = "write"
    now: str = ""
    changes: tuple[ArgumentChange, ...] = ()

    @property
    def target(self) -> str:
        """As `aop catalog approve` takes it: `TOOL` or `TOOL/OPERATION`."""
        return f"{self.tool}/{self.operation}" if self.operation else self.tool

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments that changed, each once; none for a change of the operation as a whole."""
        return tuple(dict.fromkeys(change.argument for change in self.changes if change.argument))


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def facts_of(operations: Sequence[Operation]) -> tuple[Facts, ...]:
    return tuple(
        Facts(operation.name, operation.category, operation.effect, digest(operation.description), operation.schema)
        for operation in operations
    )


def compare(
    tool: str, before: Sequence[Facts], listed: Collection[str] | None, now: Sequence[Facts] | None
) -> tuple[Drift, ...]:
    """What became of the operations `before`, in the order of names.

    `listed`: the names of all that the tool had then; what is not among them is new (None: unknown, so nothing is).
    `now` None: the operations are not known any more.
    """
    if now is None:
        return (Drift(tool, "", "operations-unknown"),) if before else ()
    present = {facts.name: facts for facts in now}
    gone = [facts for facts in before if facts.name not in present]
    known = None if listed is None else frozenset(listed)
    added = [] if known is None else [facts for facts in now if facts.name not in known]
    renamed = _renamed(gone, added) if gone and added else {}
    found: list[Drift] = []
    for facts in before:
        successor = renamed.get(facts.name)
        if facts.name in present:
            found += _changed(tool, facts, present[facts.name])
        elif successor is not None:
            name = successor.name
            found.append(Drift(tool, facts.name, "operation-renamed", facts.category, facts.effect, name))
            found += _changed(tool, facts, successor)
        else:
            found.append(Drift(tool, facts.name, "operation-removed", facts.category, facts.effect))
    taken = {facts.name for facts in renamed.values()}
    found += [
        Drift(tool, facts.name, "operation-added", facts.category, facts.effect)
        for facts in added
        if facts.name not in taken
    ]
    return tuple(sorted(found, key=lambda drift: (drift.operation, KINDS.index(drift.kind))))


def _changed(tool: str, before: Facts, now: Facts) -> Iterator[Drift]:
    def drift(kind: Kind, changes: tuple[ArgumentChange, ...] = ()) -> Drift:
        return Drift(tool, before.name, kind, before.category, before.effect, "", changes)

    if before.effect != now.effect:
        yield drift("effect-writes" if now.effect == "write" else "effect-reads")
    described: tuple[ArgumentChange, ...] = ()
    if before.schema != now.schema:
        changes = compare_schemas(_schema(before), _schema(now))
        described = tuple(change for change in changes if change.change == "described")
        others = tuple(change for change in changes if change.change != "described")
        if others:
            yield drift("schema-breaking" if any(change.breaking for change in others) else "schema-changed", others)
    if before.description != now.description or described:
        yield drift("description-changed", described)


def _schema(facts: Facts) -> Json:
    value: Json = json.loads(facts.schema) if facts.schema else None
    return value


def _renamed(gone: Sequence[Facts], added: Sequence[Facts]) -> dict[str, Facts]:
    from catalog.likeness import pair  # noqa: PLC0415 — brings rapidfuzz, for a case that seldom occurs

    return pair(gone, added)
