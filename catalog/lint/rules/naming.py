"""Names say what is done, to what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.arguments import Argument, arguments
from catalog.lint.effects import verbs
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import EXECUTING, word_set, words

NO_VERB: Final = Rule(
    "TSL301",
    "name-without-verb",
    "strict",
    Text("ツールの名前「{tool}」に動詞がありません。", "the tool's name `{tool}` has no verb."),
    Text(
        "何をするかを表す動詞で始めてください。例: get_invoice、reschedule_calendar_event。",
        "Begin it with a verb that says what it does: get_invoice, reschedule_calendar_event.",
    ),
)
VAGUE: Final = Rule(
    "TSL302",
    "name-vague",
    "strict",
    Text(
        "ツールの名前「{tool}」からは、何をするかがわかりません。",
        "the tool's name `{tool}` does not tell what it does.",
    ),
    Text(
        "動詞と、その対象を書いてください。例: process_data ではなく convert_invoice_to_pdf。",
        "Write a verb and what it is done to: convert_invoice_to_pdf rather than process_data.",
    ),
)
ARGUMENT_VAGUE: Final = Rule(
    "TSL303",
    "argument-name-vague",
    "strict",
    Text(
        "引数の名前「{name}」からは、何を渡すかがわかりません。",
        "the argument's name `{name}` does not tell what it takes.",
    ),
    Text(
        "渡すものの名前にしてください。例: data ではなく invoice_lines。",
        "Name it after what it takes: invoice_lines rather than data.",
    ),
)

RULES: Final = (NO_VERB, VAGUE, ARGUMENT_VAGUE)

_EMPTY_VERBS: Final = EXECUTING | frozenset(
    {"do", "handle", "process", "manage", "use", "make", "call", "perform", "work"}
)
_EMPTY_NOUNS: Final = word_set(
    "action actions api args command data endpoint everything function helper info information input it item "
    "items job misc object operation operations output request stuff task tasks thing things tool tools util "
    "utils value work all any mcp"
)
_EMPTY_ARGUMENTS: Final = word_set(
    "arg args arguments bar baz data foo info misc obj object param params parameter parameters payload stuff "
    "thing things tmp temp val var kwargs"
)


def check(tool: Tool) -> Iterator[Finding]:
    name = words(tool.name)
    if name:
        meaning = [word for word in name if not word.isdigit()]
        empty = [word for word in meaning if word in _EMPTY_VERBS or word in _EMPTY_NOUNS]
        if len(empty) == len(meaning) or (len(meaning) == 1 and len(meaning[0]) <= 2):
            yield Finding(VAGUE, (*tool.path, "name"), {"tool": tool.name})
        elif not verbs(tool):
            yield Finding(NO_VERB, (*tool.path, "name"), {"tool": tool.name})
    for argument in arguments(tool):
        parts = [word for word in argument.words if not word.isdigit()]
        if not argument.is_choice and _is_vague(argument, parts):
            yield Finding(ARGUMENT_VAGUE, argument.path, {"name": argument.name})


def _is_vague(argument: Argument, parts: list[str]) -> bool:
    if len(parts) == 1 and parts[0] in _EMPTY_ARGUMENTS:
        return True
    is_place = argument.name.lower() in ("x", "y", "z") and argument.types <= {"number", "integer"}
    return argument.name.isascii() and len("".join(parts)) <= 1 and not is_place
