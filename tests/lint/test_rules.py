"""Every rule finds what it is there for, and leaves alone what only looks like it."""

from __future__ import annotations

import json
import string

import pytest

from catalog.lint.lint import lint
from catalog.lint.registry import RULES
from catalog.lint.rule import Rule
from catalog.nodes import Json

from . import examples_of_clarity, examples_of_safety, examples_of_structure

EXAMPLES = {
    **examples_of_structure.EXAMPLES,
    **examples_of_safety.EXAMPLES,
    **examples_of_clarity.EXAMPLES,
}
ELSEWHERE = {"TSL001", "TSL002", "TSL003", "TSL004", "TSL128"}
"""About the text of an input, or its size: see `test_reading` and `test_hostile`."""


OWN_WORDS = {"TSL001", "TSL211", "TSL314"}
"""Whose arguments are words of one language."""


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def rules(value: Json) -> set[str]:
    return {finding.rule.id for finding in lint(value).findings}


def flat(kind: int) -> list[object]:
    return [
        pytest.param(rule, value, id=f"{rule}-{number}")
        for rule, examples in EXAMPLES.items()
        for number, value in enumerate(examples[kind])
    ]


def test_every_rule_has_examples_of_both_kinds() -> None:
    """Besides those of the page."""
    assert set(EXAMPLES) | ELSEWHERE == set(RULES)
    assert [rule for rule, examples in EXAMPLES.items() if not (examples.found and examples.passing)] == []


@pytest.mark.parametrize(("rule", "value"), flat(0))
def test_what_a_rule_finds(rule: str, value: Json) -> None:
    """Among other things: the examples are short."""
    assert rule in rules(value), json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(("rule", "value"), flat(1))
def test_what_a_rule_leaves_alone(rule: str, value: Json) -> None:
    """Whatever else is wrong with it."""
    assert rule not in rules(value), json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_a_rule_has_its_texts_in_both_languages(rule: Rule) -> None:
    """With the same blanks, as sentences."""
    for text in (rule.message, rule.help):
        assert not text.ja.isascii()
        assert text.ja.endswith(("。", "}}", "}"))
        assert text.en.endswith((".", "}}", "}"))
    assert blanks(rule.message.ja) == blanks(rule.message.en) or rule.id in OWN_WORDS
    assert blanks(rule.help.ja) == blanks(rule.help.en)
