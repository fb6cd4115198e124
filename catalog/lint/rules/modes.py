"""One tool, one intent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.arguments import Argument, arguments
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import AMBIGUOUS, VERBS, endings, ends_with, word_set, words
from catalog.nodes import Json

MODE: Final = Rule(
    "TSL313",
    "mode-hides-tools",
    "strict",
    Text(
        "引数「{name}」が、別々のツールにすべき動作を切り替えます（{modes}）。",
        "argument `{name}` switches between what should be tools of their own ({modes}).",
    ),
    Text(
        "動作ごとにツールを分けてください。権限、副作用、必須の引数がそれぞれに決まります。",
        "Make a tool of each: they differ in rights, effects and required arguments.",
    ),
)

RULES: Final = (MODE,)

_SWITCHES: Final = endings(
    "mode, action, actions, operation, operations, op, http method, verb, command, cmd, subcommand, 動作, 操作, 処理"
)
"""Under other names verbs may be values of any kind: events, rights, states."""
_SWITCHED_ON: Final = word_set(
    "create update delete remove destroy purge send publish archive cancel approve reject submit deploy pay execute run"
)


def check(tool: Tool) -> Iterator[Finding]:
    by_name: dict[str, list[Argument]] = {}
    for argument in arguments(tool):
        if argument.top:
            by_name.setdefault(argument.name, []).append(argument)
    for name, found in by_name.items():
        # Branches that each fix one value of the same argument switch as an enum does.
        choices = {choice for argument in found for choice in argument.choices if isinstance(choice, str)}
        modes = sorted(choice for choice in choices if _verb(choice) is not None)
        if _switches(words(name), modes):
            shown = ", ".join(modes[:6]) + (", …" if len(modes) > 6 else "")
            yield Finding(MODE, found[0].path, {"name": name, "modes": shown})
        elif any(_is_switched_on(argument) for argument in found):
            yield Finding(MODE, found[0].path, {"name": name, "modes": "true, false"})


def _verb(choice: Json) -> str | None:
    parts = words(choice) if isinstance(choice, str) else ()
    return parts[0] if parts and parts[0] in VERBS else None


def _switches(name: tuple[str, ...], modes: list[str]) -> bool:
    verbs = {verb for mode in modes if (verb := _verb(mode)) is not None}
    return len(verbs) > 1 and bool(verbs - AMBIGUOUS) and (ends_with(name, _SWITCHES) or name == ("method",))


def _is_switched_on(argument: Argument) -> bool:
    """A truth value that is called like a change: `delete`, `should_send`."""
    name = argument.words[1:] if argument.words[:1] in (("should",), ("do",)) else argument.words
    return argument.types == {"boolean"} and len(name) == 1 and name[0] in _SWITCHED_ON
