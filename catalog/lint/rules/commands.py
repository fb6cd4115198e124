"""No tool runs whatever text it is given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.arguments import Argument, arguments
from catalog.lint.effects import executes
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import endings, ends_with, words

FREE_FORM: Final = Rule(
    "TSL201",
    "command-free-form",
    "strict",
    Text(
        "引数「{name}」は、自由に書いた文をそのまま実行させます。",
        "argument `{name}` lets any text be run.",
    ),
    Text(
        "目的ごとのツールに分けるか、許すものを enum で並べてください。",
        "Make a tool of each purpose, or list what is allowed as an enum.",
    ),
)

RULES: Final = (FREE_FORM,)

_COMMANDS: Final = endings(
    "command, commands, cmd, shell, bash, powershell, script, sql, graphql, argv, eval, commandline,"
    "command line, sql query, raw query, source code, python code, javascript code, js code, コマンド, スクリプト"
)
_IN_EXECUTING_TOOLS: Final = endings("code, args, arguments, expression, query, program, source")
"""Harmless in most tools, a program in one that runs things."""
_RUNNERS: Final = frozenset(
    {"shell", "bash", "terminal", "python", "javascript", "node", "sql", "code", "repl", "console"}
)


def check(tool: Tool) -> Iterator[Finding]:
    runs = executes(tool) and not _RUNNERS.isdisjoint(words(tool.name))
    for argument in arguments(tool):
        if argument.takes_text and (_is_command(argument) or (runs and ends_with(argument.words, _IN_EXECUTING_TOOLS))):
            yield Finding(FREE_FORM, argument.path, {"name": argument.name})


def _is_command(argument: Argument) -> bool:
    return ends_with(argument.words, _COMMANDS)
