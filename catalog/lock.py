"""The lock: what the operations that a project uses looked like when somebody last looked at them (`aop.lock`).

JSON, because every compile reads it. It is read strictly; where it is wrong, it is read again with lines, to say where.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, TypeVar, get_args

from catalog.drift import KINDS, Facts, Kind
from catalog.drift import digest as digest_of
from catalog.fold import fold
from catalog.model import Effect
from catalog.nodes import MAX_DEPTH, Json, deeper, type_name
from catalog.own import LOCK_FILE
from catalog.reading import read_if_there

VERSION: Final = 1

_SHA256: Final = re.compile(r"[0-9a-f]{64}")

Policy: TypeAlias = Literal["warn", "approve", "block"]
"""What a drift means: a warning; an error until it is approved; an error that nobody can approve."""

POLICIES: Final[tuple[Policy, ...]] = get_args(Policy)

DEFAULT_POLICY: Final[Mapping[Kind, Policy]] = MappingProxyType(
    {kind: "approve" if kind in ("effect-writes", "description-changed") else "warn" for kind in KINDS}
)
"""What a review must not miss: an operation that writes now, and new words for the model to read."""

_T = TypeVar("_T", bound=str)


@dataclass(frozen=True, slots=True)
class LockedTool:
    """`listed`: the names of all operations that it had, None where they were unknown. `operations`: those in use, by
    name. `digest`: of all of it and of the policy."""

    name: str
    listed: tuple[str, ...] | None
    operations: tuple[Facts, ...]
    policy: Mapping[Kind, Policy]
    digest: str


@dataclass(frozen=True)
class Lock:
    """`documents`: the files and folders that it was made for. `tools`: by name."""

    documents: tuple[str, ...]
    policy: Mapping[Kind, Policy]
    tools: tuple[LockedTool, ...]

    @cached_property
    def digest(self) -> str:
        return sha256("\n".join(tool.digest for tool in self.tools).encode()).hexdigest()

    @cached_property
    def _by_name(self) -> dict[str, LockedTool]:
        return {fold(tool.name): tool for tool in self.tools}

    def tool(self, name: str) -> LockedTool | None:
        """Names are compared folded."""
        return self._by_name.get(fold(name))


def locked_tool(
    name: str, listed: Sequence[str] | None, operations: Sequence[Facts], policy: Mapping[Kind, Policy]
) -> LockedTool:
    """With its digest."""
    ordered = tuple(sorted(operations, key=lambda facts: facts.name))
    names = None if listed is None else tuple(sorted(set(listed)))
    parts: list[object] = [name, names, [policy[kind] for kind in KINDS]]
    parts += [[facts.name, facts.category, facts.effect, facts.description, facts.schema] for facts in ordered]
    digest = sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
    return LockedTool(name, names, ordered, policy, digest)


def read_lock(path: Path) -> Lock | None:
    """None where there is none. Raises CatalogError for one that cannot be read or is not right, at its line."""
    content = read_if_there(path)
    return None if content is None else lock_of(path, content)


def lock_of(path: Path, content: bytes) -> Lock:
    """Raises CatalogError."""
    try:
        text = content.decode("utf-8-sig")
        value: Json = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        if "\\ud" in text.lower():  # half of a surrogate pair is no character: encoding it raises
            json.dumps(value, ensure_ascii=False).encode()
        return _lock(value)
    except (ValueError, RecursionError):
        from catalog.lock_faults import fault_in  # noqa: PLC0415 — reads it again, slowly, for the line

        raise fault_in(path, content, None) from None
    except Wrong as wrong:
        from catalog.lock_faults import fault_in  # noqa: PLC0415 — as above

        raise fault_in(path, content, wrong) from None


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _no_constant(name: str) -> Json:
    raise ValueError(name)


# --------------------------------------------------------------------------------------------------- its shape


class Wrong(Exception):
    """`at`: the keys that lead to what is wrong. `reason`, `arguments`: as in `CatalogError`."""

    def __init__(self, at: tuple[str, ...], reason: str, **arguments: str | int) -> None:
        super().__init__(at, reason, arguments)
        self.at = at
        self.reason = reason
        self.arguments = arguments


@dataclass(frozen=True, slots=True)
class _Place:
    """A value and the keys that lead to it."""

    value: Json
    at: tuple[str, ...] = field(default=())

    @property
    def where(self) -> str:
        return ".".join(self.at) or LOCK_FILE

    def wrong(self, expected: str) -> Wrong:
        return Wrong(self.at, "type-wrong", where=self.where, expected=expected, got=type_name(self.value))

    def entries(self) -> dict[str, _Place]:
        if not isinstance(self.value, dict):
            raise self.wrong("mapping")
        return {key: _Place(value, (*self.at, key)) for key, value in self.value.items()}

    def closed(self, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> dict[str, _Place]:
        """A mapping with these keys and no others."""
        found = self.entries()
        for key in found:
            if key not in required and key not in optional:
                arguments = {"where": self.where, "key": key, "allowed": ", ".join((*required, *optional))}
                raise Wrong((*self.at, key), "key-unknown", **arguments)
        for key in required:
            if key not in found:
                raise Wrong(self.at, "key-missing", where=self.where, key=key)
        return found

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("string")
        return self.value

    def texts(self) -> tuple[str, ...]:
        if not isinstance(self.value, list) or not all(isinstance(entry, str) for entry in self.value):
            raise self.wrong("list of strings")
        return tuple(str(entry) for entry in self.value)

    def choice(self, allowed: tuple[_T, ...]) -> _T:
        for word in allowed:
            if self.value == word:
                return word
        raise self.not_one_of(" | ".join(allowed))

    def not_one_of(self, expected: str) -> Wrong:
        return Wrong(self.at, "value-wrong", where=self.where, value=json.dumps(self.value), expected=expected)

    def digest(self) -> str:
        if not _SHA256.fullmatch(self.text()):
            raise self.not_one_of("sha256")
        return self.text()


_EFFECTS: Final[tuple[Effect, ...]] = ("read", "write")


def _lock(value: Json) -> Lock:
    """Raises Wrong."""
    root = _Place(value)
    version = root.entries().get("version")
    if version is not None and (version.value != VERSION or isinstance(version.value, bool)):
        raise Wrong(version.at, "lock-version", supported=VERSION, value=json.dumps(version.value))
    top = root.closed(("version", "documents", "policy", "tools"))
    given = top["policy"].closed((), KINDS)
    policy: dict[Kind, Policy] = dict(DEFAULT_POLICY)
    policy |= {kind: given[kind].choice(POLICIES) for kind in KINDS if kind in given}
    tools = [_tool(name, place, policy) for name, place in top["tools"].entries().items()]
    names: dict[str, str] = {}
    for tool in tools:
        other = names.setdefault(fold(tool.name), tool.name)
        if other != tool.name:
            raise Wrong(("tools", tool.name), "lock-twice", name=tool.name, other=other)
    return Lock(top["documents"].texts(), policy, tuple(sorted(tools, key=lambda tool: tool.name)))


def _tool(name: str, place: _Place, policy: Mapping[Kind, Policy]) -> LockedTool:
    entries = place.closed(("listed", "operations"))
    listed = None if entries["listed"].value is None else entries["listed"].texts()
    operations = [_operation(key, entry) for key, entry in entries["operations"].entries().items()]
    return locked_tool(name, listed, operations, policy)


def _operation(name: str, place: _Place) -> Facts:
    keys = ("category", "effect", "description_sha256", "schema_sha256", "input_schema")
    entries = place.closed(keys)
    category = entries["category"]
    schema = entries["input_schema"]
    if schema.value is not None and not isinstance(schema.value, dict):
        raise schema.wrong("mapping")
    if deeper(schema.value, MAX_DEPTH):
        raise Wrong(schema.at, "too-deep", limit=MAX_DEPTH)
    text = "" if schema.value is None else json.dumps(
        schema.value, ensure_ascii=False, sort_keys=True, separators=(",", ":")
    )  # fmt: skip
    if entries["schema_sha256"].digest() != digest_of(text):
        raise Wrong(entries["schema_sha256"].at, "lock-digest", where=place.where)
    return Facts(
        name,
        None if category.value is None else category.text(),
        entries["effect"].choice(_EFFECTS),
        entries["description_sha256"].digest(),
        text,
    )
