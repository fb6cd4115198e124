"""What the run-time says to people stands in Japanese and English, and nothing is said in English alone."""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import aop_runtime
from aop_runtime import forms
from aop_runtime.engine.script import ScriptFault
from aop_runtime.faults import Fault
from aop_runtime.messages import _REASONS, Message, Worded, reason
from aop_runtime.messages.en import TEXTS as EN
from aop_runtime.messages.ja import TEXTS as JA

ROOT = Path(aop_runtime.__file__).parents[1]
MESSAGES = ROOT / "aop_runtime" / "messages"
SOURCES = [
    path for place in ("aop_runtime", "cli") for path in (ROOT / place).rglob("*.py") if path.parent not in {MESSAGES}
]
TABLES = {
    MESSAGES / "__init__.py": set(_REASONS.values()),
    ROOT / "aop_runtime" / "forms.py": set(forms._KEYS.values()),
}
"""Modules that look their keys up in a table."""


def blanks(text: str) -> set[str]:
    """The names of the blanks in a message."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def kinds(of: type[Worded]) -> Iterator[type[Worded]]:
    """All classes below `of`, in whatever module of the run-time."""
    for kind in of.__subclasses__():
        yield kind
        yield from kinds(kind)


for module in pkgutil.walk_packages(aop_runtime.__path__, "aop_runtime."):
    if "launch" not in module.name:  # a program of its own
        importlib.import_module(module.name)

FAULTS = {kind.__name__ for kind in kinds(Fault)} | {"Fault"}
OTHERS = {kind.__name__ for kind in kinds(Worded)} - FAULTS - {"Refused"}
"""Of the plane and of attachments, `Refused` is another class, whose words are for the model."""


class Said(NamedTuple):
    """A call that makes a message or a fault. `key` None: not a text in the code."""

    where: str
    kind: str
    key: str | None
    values: set[str | None]


def called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def handed_in(tree: ast.Module) -> set[str]:
    """The names of arguments that are classes of faults."""
    return {
        argument.arg
        for argument in ast.walk(tree)
        if isinstance(argument, ast.arg) and ast.unparse(argument.annotation or ast.Constant("")) == "type[Fault]"
    }


def all_said() -> list[Said]:
    found: list[Said] = []
    for path in SOURCES:
        if path in TABLES:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        making = FAULTS | handed_in(tree) | {"Message"} if "aop_runtime" in path.read_text(encoding="utf-8") else set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called(node) in making:
                first = node.args[0] if node.args else None
                key = first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else None
                where = f"{path.relative_to(ROOT)}:{node.lineno}"
                found.append(Said(where, called(node), key, {keyword.arg for keyword in node.keywords}))
    return [said for said in found if said.where.partition(":")[0] != "aop_runtime/faults.py"]


SAID = all_said()


def test_both_languages_have_the_same_messages() -> None:
    """Same keys in the same order."""
    assert list(JA) == list(EN)


@pytest.mark.parametrize("key", sorted(JA))
def test_a_message_has_the_same_blanks_in_both_languages(key: str) -> None:
    """So that whatever fills one fills the other. What is not only blanks and names is Japanese in the one alone."""
    assert blanks(JA[key]) == blanks(EN[key])
    japanese = re.compile("[ぁ-んァ-ヶ一-龠]")
    assert japanese.search(EN[key]) is None
    plain = "".join(text for text, *_ in string.Formatter().parse(JA[key]))
    assert japanese.search(plain) or plain.strip() in ("text", "Compatibility") or re.fullmatch(r"[\W\d]*", plain)


def test_no_fault_is_an_english_sentence() -> None:
    """Each is made of a key that is known, and of exactly what fills its blanks."""
    assert len(SAID) > 200
    wrong = [said for said in SAID if said.key is None or said.values != blanks(EN.get(said.key, ""))]
    wrong += [said for said in SAID if said.key not in EN]
    assert wrong == []


def test_nothing_that_is_worded_is_made_of_a_bare_text() -> None:
    """What becomes part of a fault (no connection, no schema, no YAML) has two languages as well."""
    bare = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and called(node.exc) in OTHERS
        if path.is_relative_to(ROOT / "aop_runtime")
        for argument in node.exc.args
        if isinstance(argument, ast.JoinedStr | ast.BinOp)
        or (isinstance(argument, ast.Constant) and isinstance(argument.value, str))
    ]
    assert bare == []


def test_every_class_of_fault_is_raised_somewhere() -> None:
    """So that what is checked here is all of them."""
    given_over = {"RulesFault", "ScriptFault"}  # also by `read_yaml`, to which they are handed
    assert FAULTS - {"Fault"} - given_over <= {said.kind for said in SAID}


def test_every_message_is_said_somewhere() -> None:
    """None is left behind."""
    named = {said.key for said in SAID}.union(*TABLES.values(), {"errno.other", "form.other"})
    assert set(EN) - named == set()


@given(st.text(), st.sampled_from(["ja", "en", "fr"]))
def test_what_fills_a_blank_is_not_read_as_a_message(text: str, language: str) -> None:
    """Braces in a path or in a server's words stay what they are."""
    fault = ScriptFault("script.no-result", where=Message("connection.said", said=text), path="{0}")
    assert text in fault.text(language)
    assert "{0}" in fault.text(language)


def test_the_system_is_put_into_words() -> None:
    """What is known in both languages, what is rare in the system's own."""
    assert (reason(FileNotFoundError(2, "x")).text("ja"), str(reason(OSError(2, "x")))) == (
        JA["errno.missing"],
        EN["errno.missing"],
    )
    assert reason(OSError(121, "Remote I/O error")).text("ja") == "Remote I/O error"


def test_without_a_language_it_is_english() -> None:
    """What a model, a log or a program gets."""
    assert str(ScriptFault("yaml.not-utf8", path="a")) == EN["yaml.not-utf8"].format(path="a")
