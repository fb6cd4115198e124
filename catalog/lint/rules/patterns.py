"""Patterns are regular expressions that no validator can be stalled with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.pointer import Pointer
from catalog.lint.regex.pattern import read_pattern
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.assertions import Undecided
from catalog.lint.schema.graph import Node
from catalog.lint.tools import Tool

INVALID: Final = Rule(
    "TSL125",
    "pattern-invalid",
    "structural",
    Text(
        "「{pattern}」は正規表現（ECMA-262）として読めません（{offset} 文字目）。",
        "`{pattern}` is no regular expression of ECMA-262 (at character {offset}).",
    ),
    Text(
        "括弧の対応と \\ の後の文字を確かめてください。"
        "Python や Perl だけの書き方（(?P<…>、(?i)、\\A、\\Z）は使えません。",
        "Check the brackets and what follows a \\. "
        "What only Python or Perl know ((?P<…>, (?i), \\A, \\Z) is not allowed.",
    ),
)
UNSAFE: Final = Rule(
    "TSL126",
    "pattern-unsafe",
    "structural",
    Text(
        "「{pattern}」は、短い文字列で検証を止められる正規表現です（同じ文字列を何通りにも読む繰り返しがあります）。",
        "`{pattern}` lets a short text stall whoever validates it: a repetition can read one text in several ways.",
    ),
    Text(
        "繰り返しの中の繰り返しや、重なる選択肢をなくしてください。例: ^(a+)+$ は ^a+$ に。",
        "Take out repetitions within repetitions and alternatives that overlap: ^(a+)+$ becomes ^a+$.",
    ),
)
TOO_COMPLEX: Final = Rule(
    "TSL127",
    "pattern-too-complex",
    "structural",
    Text(
        "「{pattern}」は複雑すぎて、安全かどうかを確かめられません。",
        "`{pattern}` is too complex to tell whether it is safe.",
    ),
    Text(
        "短い正規表現にするか、enum、format、maxLength に替えてください。",
        "Write a shorter one, or use enum, format or maxLength instead.",
    ),
)

RULES: Final = (INVALID, UNSAFE, TOO_COMPLEX)


def check(tool: Tool) -> Iterator[Finding]:
    for graph in tool.graphs:
        for node in graph.nodes:
            for pattern, path in _patterns(node):
                yield from _judged(pattern, path, tool)


def _patterns(node: Node) -> Iterator[tuple[str, Pointer]]:
    pattern = node.schema.get("pattern")
    if isinstance(pattern, str):
        yield pattern, (*node.path, "pattern")
    by_pattern = node.schema.get("patternProperties")
    if isinstance(by_pattern, dict):
        for name in by_pattern:
            yield name, (*node.path, "patternProperties", name)


def _judged(text: str, path: Pointer, tool: Tool) -> Iterator[Finding]:
    arguments: dict[str, str | int] = {"pattern": text}
    try:
        tool.budgets.patterns.spend(1 + len(text))
        pattern = read_pattern(text)
        if pattern.error is not None:
            yield Finding(INVALID, path, {**arguments, "offset": pattern.error + 1})
            return
        risk, work = pattern.risk
        tool.budgets.patterns.spend(work)
    except Undecided:
        risk = "too-complex"
    if risk != "none":
        yield Finding(UNSAFE if risk == "exponential" else TOO_COMPLEX, path, arguments)
