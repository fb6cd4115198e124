"""What a tool of the MCP server is: its schema, the scope that it needs, and what answers a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from pydantic import BaseModel, JsonValue
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue
from pydantic_core import CoreSchema

from pipeline.diagnostics.lang import Lang
from server.computing import Computing
from server.service import Backend, Service
from workers.tokens import Scope, Token


@dataclass(frozen=True, slots=True)
class Call:
    """One call. `backend` may be waited for: calls are answered in threads."""

    backend: Backend
    service: Service
    computing: Computing
    token: Token
    lang: Lang
    trace: str


Answer: TypeAlias = Callable[[Call, BaseModel], dict[str, JsonValue]]
"""In a thread: it may wait for others."""


@dataclass(frozen=True, slots=True)
class Computed:
    """In the event loop: what takes a processor, it has done in a child process."""

    answer: Callable[[Call, BaseModel], Awaitable[dict[str, JsonValue]]]


@dataclass(frozen=True, slots=True)
class McpTool:
    """`arguments`: closed, every field bounded and described. `answer` is given what it has read."""

    name: str
    title: str
    description: str
    scope: Scope
    arguments: type[BaseModel]
    answer: Answer | Computed
    read_only: bool
    idempotent: bool = True

    @property
    def input_schema(self) -> dict[str, JsonValue]:
        return self.arguments.model_json_schema(schema_generator=_Plain)


class _Plain(GenerateJsonSchema):
    """Without what no reader needs: titles that repeat names, `null` beside the type of what may be left out."""

    def generate(self, schema: CoreSchema, mode: JsonSchemaMode = "validation") -> JsonSchemaValue:
        return _plain(super().generate(schema, mode))


_TITLE: Final = "title"


def _plain(schema: JsonSchemaValue) -> JsonSchemaValue:
    found = {key: value for key, value in schema.items() if key != _TITLE}
    properties = found.get("properties")
    if isinstance(properties, Mapping):
        found["properties"] = {name: _optional(_plain(member)) for name, member in properties.items()}
    return found


def _optional(schema: JsonSchemaValue) -> JsonSchemaValue:
    """`{"anyOf": [X, null], "default": null}` is X, which may be left out."""
    branches = schema.get("anyOf")
    if not isinstance(branches, list):
        return schema
    kept = [branch for branch in branches if branch != {"type": "null"}]
    if len(kept) != 1 or len(kept) == len(branches):
        return schema
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return {**_plain(kept[0]), **rest}
