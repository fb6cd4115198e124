"""Whether what a plug-in returned are tools, of the granted name and of nothing else: it may be anybody's code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from string import Template
from typing import Final

from aop_runtime.declarations import Standard
from aop_runtime.messages import Message
from aop_runtime.plane.spec import Compatibility, Tool, ToolSpec
from aop_runtime.plane.validation import ArgumentValidator, UnusableSchema
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.words import one_line

MOST_TOOLS: Final = 200
LONGEST_TIMEOUT_S: Final = 86_400.0
MOST_OUTPUT: Final = 1_000_000
MOST_DESCRIPTION: Final = 20_000


def checked(made: object, grant: Standard, where: Message) -> tuple[Tool, ...]:
    """Raises SourceFault, which begins with `where` and says what to return instead."""
    if isinstance(made, str | bytes) or not isinstance(made, Sequence):
        raise SourceFault("plugin.no-list", where=where, kind=type(made).__name__)
    if not 0 < len(made) <= MOST_TOOLS:
        raise SourceFault("plugin.count", where=where, count=len(made), most=MOST_TOOLS)
    seen: set[str] = set()
    for tool in made:
        if not isinstance(tool, Tool) or not isinstance(tool.spec, ToolSpec):
            raise SourceFault("plugin.no-tool", where=where, kind=type(tool).__name__)
        _check(tool, grant, where)
        if tool.spec.operation in seen:
            raise SourceFault("plugin.twice", where=where, operation=tool.spec.operation)
        seen.add(tool.spec.operation)
        for inner in tool.inner if isinstance(tool.inner, tuple) else (None,):
            if not isinstance(inner, Tool) or not isinstance(inner.spec, ToolSpec):
                raise SourceFault("plugin.inner", where=where, operation=tool.spec.operation)
            _check(inner, grant, where)
            if inner.inner:
                raise SourceFault("plugin.inner-of-inner", where=where, operation=tool.spec.operation)
    return tuple(made)


def _check(tool: Tool, grant: Standard, where: Message) -> None:
    spec = tool.spec
    operation = one_line(str(spec.operation), 100)

    def require(field: str, fits: bool, wanted: Message) -> None:
        if not fits:
            raise SourceFault("plugin.must-be", where=where, field=field, operation=operation, wanted=wanted)

    require("operation", isinstance(spec.operation, str) and 0 < len(spec.operation) <= 200, Message("wanted.name"))
    if spec.tool != grant.tool:
        raise SourceFault("plugin.other-tool", where=where, tool=grant.tool, other=one_line(str(spec.tool), 100))
    require("name", isinstance(spec.name, str) and bool(spec.name), Message("wanted.called"))
    text = spec.description.template if isinstance(spec.description, Template) else spec.description
    fits = isinstance(text, str) and len(text) <= MOST_DESCRIPTION
    require("description", fits, Message("wanted.letters", most=MOST_DESCRIPTION))
    require("effect", spec.effect in ("read", "write"), Message("wanted.effect"))
    require("confirmation", spec.confirmation in ("never", "rules", "always"), Message("wanted.confirmation"))
    fits = _is_number(spec.timeout_s, LONGEST_TIMEOUT_S)
    require("timeout_s", fits, Message("wanted.seconds", most=LONGEST_TIMEOUT_S))
    whole = isinstance(spec.output_limit, int) and _is_number(spec.output_limit, MOST_OUTPUT)
    require("output_limit", whole, Message("wanted.whole", most=MOST_OUTPUT))
    require("compatibility", _is_compatibility(spec.compatibility), Message("wanted.compatibility"))
    require("the handler", callable(tool.handler), Message("wanted.function"))
    _check_schema(spec, where, operation)
    key = spec.idempotency_argument
    fits = key is None or (isinstance(key, str) and spec.effect == "write" and key not in _properties(spec))
    require("idempotency_argument", fits, Message("wanted.key"))
    if grant.read_only and spec.effect != "read":
        raise SourceFault("plugin.writes", where=where, operation=operation)


def _check_schema(spec: ToolSpec, where: Message, operation: str) -> None:
    if not isinstance(spec.input_schema, Mapping) or spec.input_schema.get("type") != "object":
        raise SourceFault("plugin.schema", where=where, operation=operation)
    try:
        ArgumentValidator(spec.input_schema)
    except UnusableSchema as error:
        raise SourceFault("plugin.bad-schema", where=where, operation=operation, why=error.message) from error


def _properties(spec: ToolSpec) -> Mapping[str, object]:
    properties = spec.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _is_compatibility(value: object) -> bool:
    return isinstance(value, Compatibility) and all(isinstance(name, str) for name in (*value.models, *value.features))


def _is_number(value: object, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 < value <= most
