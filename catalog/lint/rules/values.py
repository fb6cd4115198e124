"""The values that a schema names are values that it allows."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final

from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.assertions import Undecided
from catalog.lint.schema.evaluate import Evaluation
from catalog.lint.schema.graph import Graph, Node
from catalog.lint.tools import Tool
from catalog.nodes import Json

ENUM_EMPTY: Final = Rule(
    "TSL115",
    "enum-empty",
    "structural",
    Text("enum が空なので、選べる値がありません。", "enum is empty: there is nothing to choose."),
    Text("選べる値を並べるか、enum を消してください。", "List the values, or remove enum."),
)
ENUM_UNSELECTABLE: Final = Rule(
    "TSL116",
    "enum-unselectable",
    "structural",
    Text(
        "enum の値 {value} は、同じスキーマの他の条件に合わないので選べません。",
        "the enum value {value} cannot be chosen: the rest of the same schema refuses it.",
    ),
    Text(
        "値か、type などの条件を直してください。",
        "Correct the value, or what refuses it (such as type).",
    ),
)
DEFAULT_REFUSED: Final = Rule(
    "TSL119",
    "default-refused",
    "structural",
    Text(
        "既定値 {value} を、このスキーマ自身が受け付けません。",
        "the schema itself refuses its default {value}.",
    ),
    Text(
        "受け付ける値にするか、default を消してください。",
        "Make it a value that the schema allows, or remove default.",
    ),
)
CONST_REFUSED: Final = Rule(
    "TSL120",
    "const-refused",
    "structural",
    Text(
        "const の値 {value} は、同じスキーマの他の条件に合いません。",
        "the rest of the same schema refuses its const {value}.",
    ),
    Text(
        "値か、type などの条件を直してください。",
        "Correct the value, or what refuses it (such as type).",
    ),
)
TOO_COSTLY: Final = Rule(
    "TSL128",
    "schema-too-costly",
    "structural",
    Text(
        "ツール「{tool}」のスキーマは、値を 1 つ確かめるのに手間がかかりすぎるので、途中でやめました。",
        "to judge a value by the schema of tool `{tool}` takes too much work; it was given up.",
    ),
    Text(
        "何度も枝分かれする $ref や、大きすぎる値をなくしてください。",
        "Take out references that multiply, and values that are too large.",
    ),
)
EXAMPLE_REFUSED: Final = Rule(
    "TSL308",
    "example-refused",
    "strict",
    Text(
        "例 {value} を、このスキーマ自身が受け付けません。",
        "the schema itself refuses its example {value}.",
    ),
    Text(
        "受け付ける値にするか、例を消してください。",
        "Make it a value that the schema allows, or remove it.",
    ),
)

RULES: Final = (ENUM_EMPTY, ENUM_UNSELECTABLE, DEFAULT_REFUSED, CONST_REFUSED, TOO_COSTLY, EXAMPLE_REFUSED)


def check(tool: Tool) -> Iterator[Finding]:
    for graph in tool.graphs:
        for node in graph.nodes:
            if node.schema.get("enum") == []:
                yield Finding(ENUM_EMPTY, (*node.path, "enum"))
        # What a malformed schema or a lost reference means, nobody can tell.
        if not graph.malformed:
            yield from _judged(graph, tool)


def _judged(graph: Graph, tool: Tool) -> Iterator[Finding]:
    evaluation = Evaluation(graph, tool.budgets.values)
    undecided = False
    for node in graph.nodes:
        for rule, steps, value, allows in _values(node, evaluation):
            try:
                if not allows(value):
                    yield Finding(rule, (*node.path, *steps), {"value": _shown(value)})
            except Undecided:
                undecided = True
    if undecided and tool.budgets.values.exhausted:
        yield Finding(TOO_COSTLY, graph.root.path, {"tool": tool.label})


def _values(
    node: Node, evaluation: Evaluation
) -> Iterator[tuple[Rule, tuple[str | int, ...], Json, Callable[[Json], bool]]]:
    schema = node.schema
    for keyword, rule in (("enum", ENUM_UNSELECTABLE), ("examples", EXAMPLE_REFUSED)):
        listed = schema.get(keyword)
        if isinstance(listed, list):
            allows = evaluation.judge(node.raw, without=keyword)
            for index, value in enumerate(listed):
                yield rule, (keyword, index), value, allows
    if "default" in schema:
        yield DEFAULT_REFUSED, ("default",), schema["default"], evaluation.judge(node.raw)
    if "const" in schema:
        yield CONST_REFUSED, ("const",), schema["const"], evaluation.judge(node.raw, without="const")


def _shown(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
