"""A schema taken apart: every schema in it with its place, the faults of form, and where its references lead."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from catalog.lint.pointer import Pointer, from_text, index_of
from catalog.lint.schema.assertions import Undecided
from catalog.lint.schema.dialect import DEFINITIONS, SAME_PLACE, Dialect, dialect_of
from catalog.lint.schema.wellformed import faults_of
from catalog.nodes import Json

Target: TypeAlias = "Node | bool"
"""What a reference leads to."""

_REFERENCES: Final = ("$ref", "$dynamicRef")


@dataclass(slots=True, eq=False)
class Node:
    """A schema that is an object.

    `schema`: its well-formed keywords; `raw`: all of them, as in the input. `holder`, `keyword`, `key`: it is the value
    of that keyword of that schema, or an entry of it. `base`: the address of the resource that it is part of.
    """

    raw: dict[str, Json]
    schema: dict[str, Json]
    holder: Node | None
    keyword: str
    key: str | int | None
    base: str
    root: Pointer = ()
    children: list[Node] = field(default_factory=list)
    referrers: list[Node] = field(default_factory=list)

    @property
    def path(self) -> Pointer:
        steps: list[str | int] = []
        node = self
        while node.holder is not None:
            if node.key is not None:
                steps.append(node.key)
            steps.append(node.keyword)
            node = node.holder
        return (*node.root, *reversed(steps))

    @property
    def same_place(self) -> bool:
        """Whether it looks at the same value as the schema that holds it."""
        return self.holder is not None and self.keyword in SAME_PLACE


class Malformed(NamedTuple):
    """`expected`: what the meta-schema says of the keyword, as canonical JSON."""

    path: Pointer
    keyword: str
    expected: str


class Lost(NamedTuple):
    """A reference that leads nowhere in this schema. `outside`: because it leads out of it."""

    path: Pointer
    reference: str
    outside: bool


class Graph:
    """`root`: the schema; `path`: where it stands in the input. It is nested no deeper than `catalog.nodes.MAX_DEPTH`.

    `nodes` are in document order, those that only a reference reaches behind the others.
    """

    def __init__(self, root: dict[str, Json], path: Pointer) -> None:
        self.dialect: Dialect
        self.dialect, self.dialect_known = dialect_of(root.get("$schema"))
        self.nodes: list[Node] = []
        self.malformed: list[Malformed] = []
        self.lost: list[Lost] = []
        self._nodes: dict[int, Node] = {}  # by id of `raw`
        self._resources: dict[str, Node] = {}
        self._anchors: dict[tuple[str, str], Node] = {}
        self._dynamic: set[tuple[str, str]] = set()
        self.targets: dict[tuple[int, str], Target] = {}  # by id of `raw`, and keyword
        self.root = self._walk(root, None, "", None, path)
        self._follow()

    def node(self, schema: Json) -> Node | None:
        """Of a schema of this graph."""
        return self._nodes.get(id(schema)) if isinstance(schema, dict) else None

    def target(self, node: Node, keyword: str = "$ref") -> Target | None:
        """Where a reference of `node` leads, None where it has none or it leads nowhere."""
        return self.targets.get((id(node.raw), keyword))

    # As `schema.references.References`:

    def base(self, schema: dict[str, Json]) -> str:
        node = self._nodes.get(id(schema))
        return "" if node is None else node.base

    def followed(self, keyword: str, reference: Json, scope: tuple[str, ...]) -> Json:
        found = self._resolve(scope[-1], reference) if isinstance(reference, str) else None
        if found is None or isinstance(found, bool):
            if found is None:
                raise Undecided
            return found
        fragment = str(reference).rpartition("#")[2]
        if keyword == "$dynamicRef" and (found.base, fragment) in self._dynamic:
            for address in scope:
                if (address, fragment) in self._dynamic:
                    return self._anchors[address, fragment].raw
        return found.raw

    # Taking apart

    def _walk(
        self, schema: dict[str, Json], holder: Node | None, keyword: str, key: str | int | None, root: Pointer
    ) -> Node:
        first = self._add(schema, holder, keyword, key, root)
        pending = [first]
        while pending:
            node = pending.pop()
            for name, entry_key, child in _schemas_in(node.schema, self.dialect):
                if isinstance(child, dict) and id(child) not in self._nodes:
                    node.children.append(self._add(child, node, name, entry_key, root))
                elif not isinstance(child, dict | bool):
                    step = (name,) if entry_key is None else (name, entry_key)
                    self.malformed.append(Malformed((*node.path, *step), name, '{"type":["object","boolean"]}'))
            self.nodes.append(node)
            pending += reversed(node.children)
        return first

    def _add(
        self, schema: dict[str, Json], holder: Node | None, keyword: str, key: str | int | None, root: Pointer
    ) -> Node:
        node = Node(schema, schema, holder, keyword, key, "" if holder is None else holder.base, root)
        faults = faults_of(schema, self.dialect)
        if faults:
            path = node.path
            self.malformed += [Malformed((*path, name), name, expected) for name, expected in faults.items()]
            node.schema = {name: value for name, value in schema.items() if name not in faults}
        self._nodes[id(schema)] = node
        self._name(node)
        return node

    def _name(self, node: Node) -> None:
        """Enter it under its address and anchors."""
        schema = node.schema
        stands_alone = self.dialect.ref_stands_alone
        address = schema.get("$id")
        if isinstance(address, str) and not (stands_alone and "$ref" in schema):
            if stands_alone and address.startswith("#"):
                self._anchors[node.base, address[1:]] = node
            else:
                node.base = _joined(node.base, address)[0] or node.base
                self._resources.setdefault(node.base, node)
        if node.holder is None:
            self._resources.setdefault(node.base, node)
        if stands_alone:
            return
        for keyword in ("$anchor", "$dynamicAnchor"):
            anchor = schema.get(keyword)
            if isinstance(anchor, str):
                self._anchors[node.base, anchor] = node
                if keyword == "$dynamicAnchor":
                    self._dynamic.add((node.base, anchor))

    # Following references

    def _follow(self) -> None:
        done = 0
        while done < len(self.nodes):  # a reference may lead to a schema that nothing else reaches
            node = self.nodes[done]
            done += 1
            for keyword in _REFERENCES:
                reference = node.schema.get(keyword)
                if not isinstance(reference, str) or keyword in self.dialect.unknown:
                    continue
                target = self._resolve(node.base, reference)
                if target is None:
                    outside = _joined(node.base, reference)[0] not in self._resources
                    self.lost.append(Lost((*node.path, keyword), reference, outside))
                    continue
                self.targets[id(node.raw), keyword] = target
                if isinstance(target, Node):
                    target.referrers.append(node)

    def _resolve(self, base: str, reference: str) -> Target | None:
        address, fragment = _joined(base, reference)
        resource = self._resources.get(address)
        if resource is None:
            return None
        if not fragment:
            return resource
        if not fragment.startswith("/"):
            return self._anchors.get((address, fragment))
        return self._at(resource, from_text(fragment))

    def _at(self, resource: Node, steps: Iterable[str]) -> Target | None:
        value: Json = resource.raw
        node: Node = resource
        behind: list[str | int] = []  # the steps from `node`
        for step in steps:
            if isinstance(value, dict) and step in value:
                value = value[step]
                behind.append(step)
            elif isinstance(value, list) and (index := index_of(step)) is not None and index < len(value):
                value = value[index]
                behind.append(index)
            else:
                return None
            found = self.node(value)
            if found is not None:
                node, behind = found, []
        if isinstance(value, bool):
            return value
        if not isinstance(value, dict):
            return None
        if not behind:
            return node
        # A schema in a place where no schema is expected; from now on it is one.
        return self._walk(value, None, "", None, (*node.path, *behind))


def _joined(base: str, reference: str) -> tuple[str, str]:
    """The absolute address without its fragment, and the decoded fragment. A reference that is none leads nowhere."""
    if reference.startswith("#") or not reference:
        return base, unquote(reference[1:])
    try:
        address, fragment = urldefrag(urljoin(base, reference))
    except ValueError:
        return f"unreadable:{reference}", ""
    return address, unquote(fragment)


def _schemas_in(schema: dict[str, Json], dialect: Dialect) -> Iterator[tuple[str, str | int | None, Json]]:
    """(keyword, key in it, what stands where a schema is expected), in document order. `schema` is well-formed."""
    alone = dialect.ref_stands_alone and "$ref" in schema
    for keyword, value in schema.items():
        if alone and keyword not in DEFINITIONS:
            continue
        if keyword in dialect.one:
            yield keyword, None, value
        elif isinstance(value, dict) and (keyword in dialect.named or keyword == "$defs"):
            for name, entry in value.items():
                yield keyword, name, entry
        elif isinstance(value, list) and (keyword in dialect.many or keyword in dialect.one_or_many):
            for index, entry in enumerate(value):
                yield keyword, index, entry
        elif keyword in dialect.one_or_many:
            yield keyword, None, value
        elif keyword in dialect.named_or_names and isinstance(value, dict):
            for name, entry in value.items():
                if not isinstance(entry, list):
                    yield keyword, name, entry
