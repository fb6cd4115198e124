"""Both languages say the same things, and every message that the code asks for exists."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path
from typing import get_args

import pytest

from cli.messages import say
from cli.messages.en import TEXTS as EN
from cli.messages.ja import TEXTS as JA
from pipeline.incremental.report import Outcome, Reason, Stage

CLI = Path(__file__).parents[2] / "cli"
BEGINNINGS = ("help.", "dev.", "diff.", "verify.", "watch.", "why.")
"""Of keys that are put together in the code."""
KEY = re.compile(
    r"(help|usage|discover|errno|trouble|explain|init|diff|cache|watch|why|verify|compile|graph|catalog|import|lock"
    r"|approve|drift|runs|dev|push|recompile|admin)\.[a-z-]+"
)


def blanks(text: str) -> set[str]:
    """The names of the blanks in a message."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_both_languages_have_the_same_messages() -> None:
    """Same keys in the same order."""
    assert list(JA) == list(EN)


@pytest.mark.parametrize("key", sorted(JA))
def test_a_message_has_the_same_blanks_in_both_languages(key: str) -> None:
    """So that whatever fills one fills the other."""
    assert blanks(JA[key]) == blanks(EN[key])


def literal_keys() -> set[str]:
    """Every string literal of the package that looks like a message's key, or like the beginning of some."""
    found = set()
    for path in CLI.rglob("*.py"):
        if path.parent.name == "messages":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and KEY.fullmatch(node.value):
                found.add(node.value)
    return found


def test_every_key_that_the_code_names_has_a_message() -> None:
    """A missing one would be a crash in front of the user."""
    unknown = {key for key in literal_keys() if not any(known == key or known.startswith(key) for known in JA)}
    assert unknown == set()


def test_every_message_is_said_somewhere() -> None:
    """Keys are named whole, or begun and completed by a stage, a reason, a kind."""
    named = literal_keys()
    begun = tuple(key for key in named if key.endswith(("-", "."))) + BEGINNINGS
    assert [key for key in JA if key not in named and not key.startswith(begun)] == []


@pytest.mark.parametrize("reason", get_args(Reason))
def test_every_reason_has_words(reason: str) -> None:
    """`aop why` knows no "unknown" (R3)."""
    assert f"why.reason-{reason}" in JA


@pytest.mark.parametrize("word", [*get_args(Outcome), *(f"stage-{stage}" for stage in get_args(Stage))])
def test_every_stage_and_outcome_has_words(word: str) -> None:
    """Whatever a compile reports can be said."""
    assert f"why.{word}" in JA


def test_what_a_user_wrote_cannot_take_over_the_line() -> None:
    """Control characters and broken file names are shown as escapes."""
    text = say("discover.missing", "en", path="a\x1b[2J\n\udcff.md")
    assert text == "a\\x1b[2J\\n\\udcff.md: there is no such file or folder. Check the path."
