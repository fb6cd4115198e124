"""Typer's complaints about a command line, in the user's language."""

from __future__ import annotations

import re
from typing import Final

import typer

from cli.messages import say
from pipeline.diagnostics.lang import Lang

_NO_COMMAND: Final = re.compile(r"No such command '(.*?)'\.?(?: Did you mean (.*)\?)?", re.DOTALL)
_TOO_MANY: Final = re.compile(r"Got unexpected extra argument\(s\) \((.*)\)", re.DOTALL)
"""What typer says in words only."""


def usage_sentence(error: typer.TyperException, lang: Lang) -> str:
    """One sentence, and where to read how it is done. What typer reports rarely stays in its own words."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "aop"
    return f"{_complaint(error, lang)}\n{say('usage.help', lang, command=command)}"


def _complaint(error: typer.TyperException, lang: Lang) -> str:
    # The classes are private to typer; what they know is not.
    option, parameter = getattr(error, "option_name", None), getattr(error, "param", None)
    close = getattr(error, "possibilities", None)
    kind = type(error).__name__
    if kind == "NoSuchOption" and close:
        return say("usage.no-such-option-close", lang, option=str(option), close=", ".join(sorted(close)))
    if kind == "NoSuchOption":
        return say("usage.no-such-option", lang, option=str(option))
    if kind == "MissingParameter" and parameter is not None:
        return say("usage.missing", lang, name=str(parameter.display_name_raw))
    said = error.format_message()
    if command := _NO_COMMAND.fullmatch(said):
        if command[2]:
            return say("usage.no-such-command-close", lang, name=command[1], close=command[2].replace("'", ""))
        return say("usage.no-such-command", lang, name=command[1])
    if too_many := _TOO_MANY.fullmatch(said):
        return say("usage.too-many", lang, words=too_many[1])
    return say("usage.other", lang, detail=said)
