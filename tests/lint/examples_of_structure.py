"""What the structural rules must find, and what looks like it and is none; beside the examples of `docs/lint.md`."""

from __future__ import annotations

from .making import LOOP, STRING, TOOL, Examples, arguments, schema, text, tool

EXAMPLES: dict[str, Examples] = {
    "TSL101": Examples(
        found=[None, 5, "tool", True, [5], {"tools": [None]}, {"type": "function", "function": 5}],
        passing=[{}, [], {"tools": []}],
    ),
    "TSL102": Examples([{}, {"name": 5}, {"name": "  "}, {"type": "function", "function": {}}], [tool("get_report")]),
    "TSL103": Examples([{"name": "a"}, {**TOOL, "description": " "}, {**TOOL, "description": ["a"]}], [TOOL]),
    "TSL104": Examples([TOOL, {"type": "function", "function": TOOL}], [schema(), {**TOOL, "parameters": {}}]),
    "TSL105": Examples(
        [tool("a.b"), tool("名前"), tool("a b"), tool("a" * 65), tool("get\n")], [tool("a" * 64), tool("A-b_9")]
    ),
    "TSL106": Examples(
        [[tool("a"), tool("a")], {"tools": [tool("a"), tool("b"), tool("a")]}],
        [
            [tool("a"), tool("A")],
            {
                "version": 1,
                "tools": [{"kind": "mcp", "operations": [tool("a")]}, {"kind": "mcp", "operations": [tool("a")]}],
            },
        ],
    ),
    "TSL107": Examples(
        [
            {"tools": {}},
            {"jsonrpc": "2.0", "id": 1, "error": {}},
            {"result": {"tools": 5}},
            {"tools": [{"operations": 5}]},
        ],
        [{"result": {"tools": []}}, {"tools": []}, {"version": 1, "tools": [{"kind": "standard", "name": "hitl"}]}],
    ),
    "TSL108": Examples([{**schema(), "parameters": {}}], [schema()]),
    "TSL111": Examples(
        [{**TOOL, "inputSchema": given} for given in (5, None, True, [], {}, {"type": "array"}, {"type": ["object"]})],
        [schema(), {**TOOL, "inputSchema": {"type": "object"}, "outputSchema": {"type": "array", "items": STRING}}],
    ),
    "TSL112": Examples(
        [
            arguments(a={"type": "text"}),
            arguments(a={"type": []}),
            arguments(a=5),
            schema(properties=[]),
            schema(required="a"),
            schema(required=[5]),
            arguments(a={"anyOf": []}),
            arguments(a={"items": [STRING]}),
            arguments(a=text(maxLength=-1)),
            arguments(a={"multipleOf": 0}),
            {**schema(), "outputSchema": {"type": 5}},
            schema(**{"$schema": "http://json-schema.org/draft-07/schema#"}, properties={"a": {"items": []}}),
        ],
        [
            arguments(a={"x-unknown": 5}),
            schema(**{"$schema": "http://json-schema.org/draft-07/schema#"}, properties={"a": {"items": [STRING]}}),
            arguments(a=text(maxLength=5.0)),
        ],
    ),
    "TSL113": Examples(
        [
            schema(required=["a"]),
            schema(properties={"b": STRING}, required=["a"]),
            arguments(a={"type": "object", "required": ["b"]}),
        ],
        [
            schema(properties={"a": STRING}, anyOf=[{"required": ["a"]}]),
            schema(allOf=[{"properties": {"a": STRING}}], required=["a"]),
            schema(**{"$defs": {"a": {"properties": {"a": STRING}}}}, allOf=[LOOP], required=["a"]),
            schema(patternProperties={"^a$": STRING}, required=["a"]),
            schema(additionalProperties=STRING, required=["a"]),
        ],
    ),
    "TSL114": Examples(
        [schema(properties={"a": STRING}, required=["a", "a"])], [schema(properties={"a": STRING}, required=["a"])]
    ),
    "TSL115": Examples([arguments(a={"enum": []})], [arguments(a={"enum": [None]})]),
    "TSL116": Examples(
        [
            arguments(a={"type": "string", "enum": ["a", 5]}),
            arguments(a={"type": "string", "enum": ["a"], "maxLength": 0}),
            arguments(a={"type": "integer", "enum": [1, 2], "maximum": 1}),
            arguments(a={"enum": ["a"], "pattern": "^b"}),
            schema(**{"$defs": {"a": {"type": "integer"}}}, properties={"a": {**LOOP, "enum": ["x"]}}),
        ],
        [
            arguments(a={"type": "integer", "enum": [1.0]}),
            arguments(a={"enum": ["a", 5, None, [1], {"b": 1}]}),
            arguments(a={"type": "string", "enum": ["a"], "pattern": "(?=b)"}),
        ],
    ),
    "TSL117": Examples(
        [arguments(a={"type": "array"}), arguments(a={"type": ["array", "null"], "contains": STRING})],
        [
            arguments(a={"type": "array", "items": {}}),
            arguments(a={"type": "array", "prefixItems": [STRING]}),
            arguments(a={"type": "array", "const": [1]}),
            arguments(a={"type": "array", "allOf": [{"items": STRING}]}),
        ],
    ),
    "TSL118": Examples(
        [
            arguments(a=given)
            for given in (
                {"minimum": 2, "maximum": 1},
                {"exclusiveMinimum": 1, "maximum": 1},
                {"minimum": 1, "exclusiveMaximum": 1},
                {"minimum": 0, "exclusiveMinimum": 5, "maximum": 5},
                {"type": "integer", "minimum": 1.2, "maximum": 1.8},
                {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
                {"multipleOf": 5, "minimum": 1, "maximum": 4},
                {"multipleOf": 0.1, "exclusiveMinimum": 0.1, "exclusiveMaximum": 0.2},
                {"minLength": 2, "maxLength": 1},
                {"minItems": 2, "maxItems": 1},
                {"minProperties": 2, "maxProperties": 1},
                {"contains": STRING, "minContains": 2, "maxContains": 1},
                {"contains": STRING, "minContains": 2, "maxItems": 1},
                {"prefixItems": [STRING], "items": False, "minItems": 2},
                {"properties": {"b": False}, "required": ["b"]},
                {"properties": {"b": STRING, "c": STRING}, "required": ["b", "c"], "maxProperties": 1},
                {"properties": {"b": STRING}, "additionalProperties": False, "minProperties": 2},
            )
        ],
        [
            arguments(a=given)
            for given in (
                {"minimum": 1, "maximum": 1},
                {"type": "integer", "minimum": 0.5, "maximum": 1.5},
                {"type": "number", "minimum": 1.2, "maximum": 1.8},
                {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 3},
                {"multipleOf": 0.1, "minimum": 0.3, "maximum": 0.3},
                {"minimum": -1e308, "maximum": 1e308},
                {"minLength": 0, "maxLength": 0},
            )
        ],
    ),
    "TSL119": Examples(
        [
            arguments(a=text(default=None)),
            arguments(a=text(default="abc", maxLength=2)),
            arguments(a=text(default="x", pattern="^[a-c]$")),
            arguments(a={"type": "integer", "default": 1.5}),
            arguments(a={"type": "integer", "default": True}),
            arguments(a={"enum": ["a"], "default": "b"}),
            arguments(a={"type": "array", "items": STRING, "uniqueItems": True, "default": ["a", "a"]}),
            arguments(a={"anyOf": [STRING, {"type": "null"}], "default": 5}),
            arguments(a={"type": "object", "properties": {"b": STRING}, "required": ["b"], "default": {}}),
            schema(**{"$defs": {"a": STRING}}, properties={"a": {**LOOP, "default": 5}}),
            schema(default=[]),
            {**schema(), "outputSchema": {"type": "object", "properties": {"a": text(default=5)}}},
        ],
        [
            arguments(a=text(default="")),
            arguments(a={"type": "integer", "default": 1.0}),
            arguments(a={"type": "number", "multipleOf": 0.1, "default": 0.3}),
            arguments(a=text(default="a", pattern="(?=b)")),  # cannot be decided
            arguments(a=text(default="nonsense", format="date")),  # a remark only
            arguments(a={"anyOf": [STRING, {"type": "null"}], "default": None}),
            arguments(a={"$ref": "#/$defs/none", "default": 5}),
        ],
    ),
    "TSL120": Examples([arguments(a=text(const=5))], [arguments(a=text(const="a")), arguments(a={"const": None})]),
    "TSL121": Examples(
        [arguments(a={"$ref": "#/$defs/none"}), arguments(a={"$ref": "#none"})],
        [schema(**{"$defs": {"a": STRING}}, allOf=[LOOP])],
    ),
    "TSL122": Examples(
        [
            arguments(a={"$ref": "other.json"}),
            arguments(a={"$ref": "file:///etc/passwd"}),
            arguments(a={"$dynamicRef": "https://a.test/b"}),
        ],
        [schema(**{"$id": "https://a.test/b", "$defs": {"a": STRING}}, allOf=[{"$ref": "https://a.test/b#/$defs/a"}])],
    ),
    "TSL123": Examples(
        [
            schema(**{"$ref": "#"}),
            schema(**{"$defs": {"a": LOOP}}, allOf=[LOOP]),
            schema(**{"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [LOOP, STRING]}}}, allOf=[LOOP]),
            schema(**{"$defs": {"a": {"not": LOOP}}}),
        ],
        [
            arguments(a={"$ref": "#"}),
            schema(**{"$defs": {"a": {"type": "array", "items": LOOP}}}, properties={"a": LOOP}),
        ],
    ),
    "TSL124": Examples(
        [
            schema(properties={"a": {"$ref": "#"}}, required=["a"]),
            schema(**{"$defs": {"a": {"type": "array", "items": LOOP, "minItems": 1}}}, properties={"a": LOOP}),
            schema(
                **{"$defs": {"a": {"type": "array", "prefixItems": [STRING, LOOP], "minItems": 2}}},
                properties={"a": LOOP},
            ),
        ],
        [
            schema(properties={"a": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}, required=["a"]),
            schema(**{"$defs": {"a": {"type": "array", "items": LOOP}}}, properties={"a": LOOP}),
            schema(
                **{"$defs": {"a": {"type": ["object", "null"], "properties": {"b": LOOP}, "required": ["b"]}}},
                properties={"a": LOOP},
            ),
        ],
    ),
    "TSL125": Examples(
        [
            arguments(a=text(pattern="(")),
            arguments(a={"type": "object", "patternProperties": {"[": {}}}),
            arguments(a=text(pattern="(?P<a>b)")),
        ],
        [arguments(a=text(pattern="^(?<a>b)\\k<a>$")), arguments(a=text(pattern="[\\w-.]"))],
    ),
    "TSL126": Examples(
        [arguments(a=text(pattern="^(a+)+$")), arguments(a={"type": "object", "patternProperties": {"(a|a)*b": {}}})],
        [arguments(a=text(pattern="^[a-z]+(-[a-z]+)*$"))],
    ),
    "TSL127": Examples([arguments(a=text(pattern="a" * 4_001))], [arguments(a=text(pattern="a" * 1_900))]),
}
