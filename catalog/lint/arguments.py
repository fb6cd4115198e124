"""The arguments of a tool: every member that a schema declares, at whatever depth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from catalog.lint.pointer import Pointer
from catalog.lint.schema.facts import has_choices, text_of, types
from catalog.lint.schema.graph import Graph, Node
from catalog.lint.schema.places import Certainty
from catalog.lint.tools import Tool
from catalog.lint.words import words
from catalog.nodes import Json

_MAX_PARTS: Final = 40
_QUESTIONS: Final = frozenset(
    {"is", "has", "include", "exclude", "show", "hide", "use", "allow", "enable", "disable", "should", "can", "with"}
)


@dataclass(frozen=True)
class Argument:
    """`parts`: the schemas that its value meets, its own first, what it refers to, joins or chooses from behind it.
    `entries`: the same of what it lists, if it is a list. `is_choice`: it takes nothing but given values.
    `top`: it is an argument of the tool itself, and no part of one."""

    name: str
    path: Pointer
    parts: tuple[Node, ...]
    entries: tuple[Node, ...]
    is_choice: bool
    top: bool

    @cached_property
    def words(self) -> tuple[str, ...]:
        return words(self.name)

    @property
    def asks(self) -> bool:
        """Whether its name is a question with yes or no for an answer, whatever type it is given."""
        return self.words[:1] != self.words and self.words[0] in _QUESTIONS

    @cached_property
    def types(self) -> frozenset[str]:
        """All that it may be, null aside; empty where nothing is said."""
        return _types(self.parts)

    def takes(self, *kinds: str) -> bool:
        """Whether it takes one of these types beside given values; one that says nothing of types takes all."""
        return not self.is_choice and (not self.types or bool(self.types.intersection(kinds)))

    @cached_property
    def takes_text(self) -> bool:
        """A free string, or a list of them."""
        return self.takes("string") or (self.takes("array") and bool(_types(self.entries) & {"string"}))

    @property
    def choices(self) -> tuple[Json, ...]:
        """The values that it names one by one (enum, const)."""
        found: list[Json] = []
        for part in (*self.parts, *self.entries):
            listed = part.schema.get("enum")
            found += listed if isinstance(listed, list) else []
            found += [part.schema["const"]] if "const" in part.schema else []
        return tuple(found)

    def values(self, keyword: str) -> tuple[str, ...]:
        """What its schemas say by a keyword whose value is a string: `pattern`, `format`."""
        return tuple(
            found for part in (*self.parts, *self.entries) if isinstance(found := part.schema.get(keyword), str)
        )

    @cached_property
    def text(self) -> str:
        """What it says to people."""
        return " ".join(filter(None, (text_of(part) for part in (*self.parts, *self.entries))))


@lru_cache(maxsize=4)
def arguments(tool: Tool) -> tuple[Argument, ...]:
    """In document order; those of a definition once, however often it is used. Asked by many rules in a row."""
    return () if tool.graph is None else tuple(_arguments(tool.graph))


def _arguments(graph: Graph) -> Iterator[Argument]:
    chosen = Certainty(graph, has_choices)
    for node in graph.nodes:
        declared = node.schema.get("properties")
        if not isinstance(declared, dict) or node.keyword == "not":
            continue
        for name, schema in declared.items():
            if schema is not False:
                yield _argument(graph, chosen, name, node, graph.node(schema))


def _argument(graph: Graph, chosen: Certainty, name: str, holder: Node, node: Node | None) -> Argument:
    parts = () if node is None else tuple(_parts(graph, node))
    lists = [child for part in parts for child in part.children if child.keyword in ("items", "prefixItems")]
    entries = tuple(part for child in lists[:_MAX_PARTS] for part in _parts(graph, child))
    only_lists = _types(parts) == {"array"}
    is_choice = node is not None and (
        chosen.holds(node) or (only_lists and bool(lists) and all(chosen.holds(child) for child in lists))
    )
    return Argument(name, (*holder.path, "properties", name), parts, entries, is_choice, _is_top(graph, holder))


def _is_top(graph: Graph, holder: Node) -> bool:
    node = holder
    while node.holder is not None and node.same_place:
        node = node.holder
    return node is graph.root


def _parts(graph: Graph, node: Node) -> Iterator[Node]:
    seen: set[Node] = set()
    pending = [node]
    while pending and len(seen) < _MAX_PARTS:
        part = pending.pop(0)
        if part in seen:
            continue
        seen.add(part)
        yield part
        target = graph.target(part)
        if isinstance(target, Node):
            pending.append(target)
        pending += [child for child in part.children if child.keyword in ("allOf", "anyOf", "oneOf", "then", "else")]


def _types(parts: tuple[Node, ...]) -> frozenset[str]:
    return frozenset(kind for part in parts for kind in types(part.schema)) - {"null"}
