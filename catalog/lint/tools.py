"""A tool as the rules see it, whichever form it came in."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from catalog.lint.pointer import Pointer
from catalog.lint.schema.evaluate import Budget
from catalog.lint.schema.graph import Graph
from catalog.nodes import Json

Form = Literal["mcp", "function", "catalog"]

SCHEMA_KEYS: Final = ("inputSchema", "input_schema", "parameters")
OUTPUT_KEYS: Final = ("outputSchema", "output_schema")


@dataclass(frozen=True, slots=True)
class Budgets:
    """Shared by everything that looks at the tools of one input. `values`: for judging values. `patterns`: for reading
    and judging patterns, so that values that are hard to match do not keep a pattern from being found unsafe."""

    values: Budget = field(default_factory=Budget)
    patterns: Budget = field(default_factory=Budget)


@dataclass(eq=False)
class Tool:
    """`definition`: the object that holds name, description and schema; `path`: where it stands in the input.

    `group`: tools of one group must have different names; each connector of a catalog is a group.
    """

    definition: dict[str, Json]
    path: Pointer
    form: Form
    group: Pointer
    budgets: Budgets

    @cached_property
    def name(self) -> str:
        """ "" where there is none."""
        return self._text("name")

    @cached_property
    def description(self) -> str:
        """ "" where there is none."""
        return self._text("description")

    @property
    def label(self) -> str:
        """What to call it in a message."""
        return self.name or "?"

    @cached_property
    def annotations(self) -> dict[str, Json]:
        """What an MCP server says of its tool."""
        found = self.definition.get("annotations")
        return found if isinstance(found, dict) else {}

    @cached_property
    def schema_keys(self) -> tuple[str, ...]:
        """The keys under which it has a schema."""
        return tuple(key for key in SCHEMA_KEYS if key in self.definition)

    @cached_property
    def schema_path(self) -> Pointer:
        return (*self.path, *self.schema_keys[:1])

    @cached_property
    def graph(self) -> Graph | None:
        """Of its arguments; None where there is no schema that is an object."""
        schema = self.definition.get(self.schema_keys[0]) if self.schema_keys else None
        return Graph(schema, self.schema_path) if isinstance(schema, dict) else None

    @cached_property
    def output_graph(self) -> Graph | None:
        for key in OUTPUT_KEYS:
            schema = self.definition.get(key)
            if isinstance(schema, dict):
                return Graph(schema, (*self.path, key))
        return None

    @cached_property
    def graphs(self) -> tuple[Graph, ...]:
        return tuple(graph for graph in (self.graph, self.output_graph) if graph is not None)

    def _text(self, key: str) -> str:
        value = self.definition.get(key)
        return value if isinstance(value, str) and value.strip() else ""
