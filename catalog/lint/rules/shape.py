"""A tool has one name that every provider accepts, one description and one schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from catalog.lint.pointer import Pointer, to_text
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")

NAME_MISSING: Final = Rule(
    "TSL102",
    "name-missing",
    "structural",
    Text("ツールに名前がありません。", "the tool has no name."),
    Text(
        "name に、動詞で始まる名前を文字列で書いてください。",
        "Write a name that begins with a verb, as the string `name`.",
    ),
)
DESCRIPTION_MISSING: Final = Rule(
    "TSL103",
    "description-missing",
    "structural",
    Text("ツール「{tool}」に説明がありません。", "tool `{tool}` has no description."),
    Text(
        "description に、何をするか、いつ使うか、いつ使わないか、何を変えるかを書いてください。",
        "Write what it does, when to use it, when not, and what it changes, as the string `description`.",
    ),
)
SCHEMA_MISSING: Final = Rule(
    "TSL104",
    "schema-missing",
    "structural",
    Text("ツール「{tool}」に引数のスキーマがありません。", "tool `{tool}` has no schema of its arguments."),
    Text(
        "inputSchema（または input_schema、parameters）に JSON Schema を書いてください。"
        '引数がなければ {{"type": "object", "additionalProperties": false}} です。',
        "Write a JSON Schema as inputSchema (or input_schema, parameters). "
        'Without arguments it is {{"type": "object", "additionalProperties": false}}.',
    ),
)
NAME_INVALID: Final = Rule(
    "TSL105",
    "name-invalid",
    "structural",
    Text(
        "ツールの名前「{tool}」は、使えない文字を含むか長すぎます。",
        "the tool's name `{tool}` has characters that are not allowed, or is too long.",
    ),
    Text(
        "英字、数字、_、- だけの 64 文字以内の名前にしてください。",
        "Use letters, digits, _ and - only, at most 64 of them.",
    ),
)
NAME_DUPLICATE: Final = Rule(
    "TSL106",
    "name-duplicate",
    "structural",
    Text(
        "ツールの名前「{tool}」は {first} と重複しています。",
        "the tool's name `{tool}` stands at {first} already.",
    ),
    Text("名前を変えるか、どちらかを消してください。", "Rename one of them, or remove it."),
)
SCHEMA_AMBIGUOUS: Final = Rule(
    "TSL108",
    "schema-ambiguous",
    "structural",
    Text(
        "ツール「{tool}」に引数のスキーマが {count} つあります（{keys}）。どれが使われるかは読む側によって変わります。",
        "tool `{tool}` has {count} schemas of its arguments ({keys}); which one counts depends on who reads them.",
    ),
    Text("1 つだけ残してください。", "Keep one of them."),
)

SCHEMA_UNKNOWN: Final = Rule(
    "TSL315",
    "schema-unknown",
    "strict",
    Text(
        "カタログの操作「{tool}」の引数のスキーマが書かれていません。",
        "the catalog says nothing of the arguments of operation `{tool}`.",
    ),
    Text(
        "出典にスキーマがあれば input_schema に写してください。なければ、サーバーから取り込んでください。",
        "Copy the schema of its source into input_schema, or import it from the server.",
    ),
)

RULES: Final = (
    NAME_MISSING,
    DESCRIPTION_MISSING,
    SCHEMA_MISSING,
    NAME_INVALID,
    NAME_DUPLICATE,
    SCHEMA_AMBIGUOUS,
    SCHEMA_UNKNOWN,
)


def check(tool: Tool) -> Iterator[Finding]:
    name = {"tool": tool.label}
    if not tool.name:
        yield Finding(NAME_MISSING, tool.path)
    elif _NAME.fullmatch(tool.name) is None:
        yield Finding(NAME_INVALID, (*tool.path, "name"), name)
    if not tool.description:
        yield Finding(DESCRIPTION_MISSING, tool.path, name)
    if not tool.schema_keys:
        # A catalog may list operations whose source tells no more than their names.
        yield Finding(SCHEMA_UNKNOWN if tool.form == "catalog" else SCHEMA_MISSING, tool.path, name)
    elif len(tool.schema_keys) > 1:
        keys = ", ".join(tool.schema_keys)
        yield Finding(SCHEMA_AMBIGUOUS, tool.path, {**name, "count": len(tool.schema_keys), "keys": keys})


def check_all(tools: Sequence[Tool]) -> Iterator[Finding]:
    first: dict[tuple[Pointer, str], Tool] = {}
    for tool in tools:
        if tool.name:
            other = first.setdefault((tool.group, tool.name), tool)
            if other is not tool:
                yield Finding(
                    NAME_DUPLICATE, (*tool.path, "name"), {"tool": tool.name, "first": to_text((*other.path, "name"))}
                )
