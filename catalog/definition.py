"""A catalog's tools as their files give them, checked: between reading (`catalog_file`, `mcp_config`) and compiling."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.model import Category, Effect, ToolKind
from catalog.nodes import Json


@dataclass(frozen=True, slots=True)
class OperationDefinition:
    """`extras`: the optional fields that the run-time uses, as in the file."""

    name: str
    category: str | None
    effect: Effect
    description: str
    input_schema: dict[str, Json] | None
    text_argument: str | None
    extras: dict[str, Json]


@dataclass(frozen=True, slots=True)
class Removal:
    """An entry of `remove`: the tool of that name below counts no more. `line`: where it stands."""

    name: str
    line: int


@dataclass(frozen=True, slots=True)
class ToolDefinition:
    """One tool. `operations` None: unknown (T11). `extras`: source and server. `line`: where it begins."""

    name: str
    kind: ToolKind
    title: str
    hints: tuple[str, ...]
    categories: tuple[Category, ...]
    operations: tuple[OperationDefinition, ...] | None
    options: tuple[str, ...]
    grants: tuple[tuple[str, tuple[str, ...]], ...]
    extras: dict[str, Json]
    line: int
