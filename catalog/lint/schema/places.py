"""What the schemas that look at one value say of it together.

`allOf`, `anyOf`, `$ref` and their like spread what is known of a value over several schemas. A rule that asks "does
anybody declare this?" asks the whole neighbourhood; a rule that asks "is this bounded?" must hold whichever way a value
takes through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from catalog.lint.schema.dialect import DEFINITIONS
from catalog.lint.schema.graph import Graph, Node
from catalog.nodes import Json

Says: TypeAlias = "Callable[[dict[str, Json]], bool]"
"""Something that a schema's own keywords say or do not say."""

_MAX_CHAIN: Final = 60
"""References and branches that lead to one another; what lies behind that does not count."""

_REFERENCES: Final = ("$ref", "$dynamicRef")
_DENYING: Final = frozenset({"not", "if"})
"""Their schemas demand nothing of a value."""


class Neighbourhoods:
    """The schemas of a graph in groups: all that may look at the same value, by branches and references."""

    def __init__(self, graph: Graph) -> None:
        self._group: dict[Node, Node] = {}
        for node in graph.nodes:
            for other in _same_value(graph, node):
                self._join(node, other)
        self._members: dict[Node, list[Node]] = {}
        for node in graph.nodes:
            self._members.setdefault(self._find(node), []).append(node)

    def of(self, node: Node) -> list[Node]:
        return self._members[self._find(node)]

    def key(self, node: Node) -> Node:
        """The same for all of a group."""
        return self._find(node)

    def _find(self, node: Node) -> Node:
        root = node
        while (above := self._group.get(root, root)) is not root:
            root = above
        while node is not root:
            self._group[node], node = root, self._group.get(node, node)
        return root

    def _join(self, one: Node, other: Node) -> None:
        first, second = self._find(one), self._find(other)
        if first is not second:
            self._group[second] = first


def _same_value(graph: Graph, node: Node) -> Iterator[Node]:
    for keyword in _REFERENCES:
        target = graph.target(node, keyword)
        if isinstance(target, Node):
            yield target
    yield from (child for child in node.children if child.same_place)


class Certainty:
    """Whether, whenever a node looks at a value, some schema that says `says` looks at it too."""

    def __init__(self, graph: Graph, says: Says) -> None:
        self._graph = graph
        self._says = says
        self._below: dict[Node, bool] = {}
        self._whole: dict[Node, bool] = {}

    def holds(self, node: Node) -> bool:
        return self._around(node, 0)

    def _within(self, node: Node, depth: int) -> bool:
        """The node itself, what it refers to, all that it joins, or every branch."""
        known = self._below.get(node)
        if known is not None:
            return known
        if depth > _MAX_CHAIN:
            return False
        self._below[node] = False  # for as long as it is being asked: a circle proves nothing
        targets = [self._graph.target(node, keyword) for keyword in _REFERENCES]
        stands_alone = self._graph.dialect.ref_stands_alone and "$ref" in node.schema
        found = not stands_alone and self._says(node.schema)
        found = found or any(isinstance(target, Node) and self._within(target, depth + 1) for target in targets)
        found = found or any(child.keyword == "allOf" and self._within(child, depth + 1) for child in node.children)
        found = found or any(self._every_branch(node, keyword, depth) for keyword in ("anyOf", "oneOf"))
        self._below[node] = found
        return found

    def _every_branch(self, node: Node, keyword: str, depth: int) -> bool:
        branches = node.schema.get(keyword)
        if not isinstance(branches, list):
            return False
        for branch in branches:
            child = self._graph.node(branch)
            if branch is False or (child is not None and (_is_scalar(child) or self._within(child, depth + 1))):
                continue
            return False
        return True

    def _around(self, node: Node, depth: int) -> bool:
        """Also what holds the node at the same place, and all that refer to it if it is a mere definition."""
        known = self._whole.get(node)
        if known is not None:
            return known
        if depth > _MAX_CHAIN:
            return False
        self._whole[node] = False
        found = self._within(node, 0)
        if not found and node.holder is not None and node.same_place and node.keyword not in _DENYING:
            found = self._around(node.holder, depth + 1)
        if not found and node.holder is not None and node.keyword in DEFINITIONS and node.referrers:
            found = all(self._around(referrer, depth + 1) for referrer in node.referrers)
        self._whole[node] = found
        return found


def _is_scalar(node: Node) -> bool:
    """Whether it takes nothing that could be too large: no text, list, object or number."""
    kind = node.schema.get("type")
    names = kind if isinstance(kind, list) else [kind]
    return bool(names) and all(name in ("null", "boolean") for name in names)
