"""Whether what a plug-in returned are tools, of the granted name and of nothing else: it may be anybody's code."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from string import Template
from typing import Final

from aop_runtime.declarations import Standard
from aop_runtime.plane.spec import Compatibility, Tool, ToolSpec
from aop_runtime.plane.validation import ArgumentValidator, UnusableSchema
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.words import one_line

MOST_TOOLS: Final = 200
LONGEST_TIMEOUT_S: Final = 86_400.0
MOST_OUTPUT: Final = 1_000_000
MOST_DESCRIPTION: Final = 20_000


def checked(made: object, grant: Standard, where: str) -> tuple[Tool, ...]:
    """Raises SourceFault, which begins with `where` and says what to return instead."""
    if isinstance(made, str | bytes) or not isinstance(made, Sequence):
        raise SourceFault(f"{where} returned {type(made).__name__}; return a list of Tool")
    if not 0 < len(made) <= MOST_TOOLS:
        raise SourceFault(f"{where} returned {len(made)} tools; return 1 to {MOST_TOOLS}")
    seen: set[str] = set()
    for tool in made:
        if not isinstance(tool, Tool) or not isinstance(tool.spec, ToolSpec):
            raise SourceFault(f"{where} returned {type(tool).__name__} in its list; return Tool only")
        _check(tool, grant, where)
        if tool.spec.operation in seen:
            raise SourceFault(f"{where} returned {tool.spec.operation} twice; return each operation once")
        seen.add(tool.spec.operation)
        for inner in tool.inner if isinstance(tool.inner, tuple) else (None,):
            if not isinstance(inner, Tool) or not isinstance(inner.spec, ToolSpec):
                raise SourceFault(f"{where}: inner of {tool.spec.operation} must be a tuple of Tool")
            _check(inner, grant, where)
            if inner.inner:
                raise SourceFault(f"{where}: inner of {tool.spec.operation} must have no inner tools themselves")
    return tuple(made)


def _check(tool: Tool, grant: Standard, where: str) -> None:
    spec = tool.spec
    operation = one_line(str(spec.operation), 100)

    def require(field: str, fits: bool, wanted: str) -> None:
        if not fits:
            raise SourceFault(f"{where}: {field} of {operation} must be {wanted}")

    require("operation", isinstance(spec.operation, str) and 0 < len(spec.operation) <= 200, "a name")
    if spec.tool != grant.tool:
        raise SourceFault(f"{where}: it may provide {grant.tool}, not {one_line(str(spec.tool), 100)}")
    require("name", isinstance(spec.name, str) and bool(spec.name), "what the model calls it")
    text = spec.description.template if isinstance(spec.description, Template) else spec.description
    require(
        "description", isinstance(text, str) and len(text) <= MOST_DESCRIPTION, f"at most {MOST_DESCRIPTION} letters"
    )
    require("effect", spec.effect in ("read", "write"), "'read' or 'write'")
    require("confirmation", spec.confirmation in ("never", "rules", "always"), "'never', 'rules' or 'always'")
    require("timeout_s", _is_number(spec.timeout_s, LONGEST_TIMEOUT_S), f"seconds, at most {LONGEST_TIMEOUT_S:g}")
    whole = isinstance(spec.output_limit, int) and _is_number(spec.output_limit, MOST_OUTPUT)
    require("output_limit", whole, f"a whole number, at most {MOST_OUTPUT}")
    require("compatibility", _is_compatibility(spec.compatibility), "a Compatibility")
    require("the handler", callable(tool.handler), "a coroutine function")
    _check_schema(spec, require_message=f"{where}: input_schema of {operation}")
    key = spec.idempotency_argument
    fits = key is None or (isinstance(key, str) and spec.effect == "write" and key not in _properties(spec))
    require("idempotency_argument", fits, "an argument of a write that its input_schema does not hold, or None")
    if grant.read_only and spec.effect != "read":
        raise SourceFault(f"{where}: {operation} writes, and only reading was granted")


def _check_schema(spec: ToolSpec, require_message: str) -> None:
    if not isinstance(spec.input_schema, Mapping) or spec.input_schema.get("type") != "object":
        raise SourceFault(f"{require_message} must be a JSON Schema with type: object")
    try:
        ArgumentValidator(spec.input_schema)
    except UnusableSchema as error:
        raise SourceFault(f"{require_message} cannot be used: {error}") from error


def _properties(spec: ToolSpec) -> Mapping[str, object]:
    properties = spec.input_schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _is_compatibility(value: object) -> bool:
    return isinstance(value, Compatibility) and all(isinstance(name, str) for name in (*value.models, *value.features))


def _is_number(value: object, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 < value <= most
