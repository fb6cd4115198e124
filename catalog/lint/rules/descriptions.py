"""A model knows of a tool what its descriptions say."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from catalog.lint.arguments import Argument, arguments
from catalog.lint.pointer import Pointer
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.graph import Node
from catalog.lint.tools import Tool
from catalog.lint.words import words

VAGUE: Final = Rule(
    "TSL304",
    "description-vague",
    "strict",
    Text(
        "ツール「{tool}」の説明からは、何をするか、いつ使うかがわかりません。",
        "the description of tool `{tool}` does not tell what it does and when to use it.",
    ),
    Text(
        "何をするか、いつ使うか、いつ使わないか、何を変えるかを、名前の言い換えでなく書いてください。",
        "Write what it does, when to use it, when not, and what it changes: more than its name in other words.",
    ),
)
ARGUMENT_UNDESCRIBED: Final = Rule(
    "TSL305",
    "argument-undescribed",
    "advice",
    Text("引数「{name}」に説明がありません。", "argument `{name}` has no description."),
    Text(
        "何を渡すか、形式、単位を description に書いてください。",
        "Say what it takes, its form and its unit, as its description.",
    ),
)
CHOICES_IN_PROSE: Final = Rule(
    "TSL306",
    "choices-in-prose",
    "strict",
    Text(
        "引数「{name}」の選択肢が、説明の文にだけ書かれています。",
        "the choices of argument `{name}` are only told in its description.",
    ),
    Text("enum に並べてください。", "List them as an enum."),
)
HIDDEN_TEXT: Final = Rule(
    "TSL216",
    "hidden-text",
    "strict",
    Text(
        "ツール「{tool}」の文に、人には見えない文字（{character}）があります。モデルへの隠れた指示に使われます。",
        "a text of tool `{tool}` holds a character that people do not see ({character}); so instructions are hidden.",
    ),
    Text("その文字を消し、文の全体を確かめてください。", "Remove it, and read the whole text again."),
)

RULES: Final = (VAGUE, ARGUMENT_UNDESCRIBED, CHOICES_IN_PROSE, HIDDEN_TEXT)

_LEAST_WIDTH: Final = 16
"""Columns of a description that can say something: some three words, or eight Japanese characters."""
_PLACEHOLDER: Final = re.compile(
    r"(?:todo|tbd|fixme|wip|n/?a|none|null|undefined|lorem ipsum|\.{3}|…|-+|xxx+|description"
    r"|説明|未定|準備中|後で書く|仮)[\s.。:：]*"
)
_LISTING: Final = re.compile(
    r"\b(?:one of|either|possible values|allowed values|valid values|accepted values|must be one)\b.{0,12}[:'\"`\[(]"
    r"|[A-Za-z0-9_」』\"'`]\s?[、,，/|／]\s?[「『\"'`]?[A-Za-z0-9_].{0,80}?(?:のいずれか|のどれか|から選)",
    re.IGNORECASE,
)
_WINDOW: Final = 2_000
_EMOJI_JOINERS: Final = frozenset("\u200d\ufe0f\ufe0e")
_INVISIBLE: Final = re.compile(
    "[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\U000e0000-\U000e0fff\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)


def check(tool: Tool) -> Iterator[Finding]:
    if tool.description and _is_vague(tool):
        yield Finding(VAGUE, (*tool.path, "description"), {"tool": tool.label})
    names = {argument.name for argument in arguments(tool) if len(argument.name) > 3}
    for argument in arguments(tool):
        text = argument.text
        if not text.strip():
            yield Finding(ARGUMENT_UNDESCRIBED, argument.path, {"name": argument.name})
        elif argument.takes_text and not argument.choices and _lists_choices(argument, text, names):
            yield Finding(CHOICES_IN_PROSE, argument.path, {"name": argument.name})
    for path, text in _read_by_models(tool):
        found = _INVISIBLE.search(_without_emoji(text))
        if found is not None:
            yield Finding(HIDDEN_TEXT, path, {"tool": tool.label, "character": f"U+{ord(found[0]):04X}"})


def _is_vague(tool: Tool) -> bool:
    text = " ".join(tool.description.split())
    if _PLACEHOLDER.fullmatch(text.lower()):
        return True
    if sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text[:200]) < _LEAST_WIDTH:
        return True
    said = [word for word in words(text) if word not in _ARTICLES]
    return bool(said) and set(said) <= set(words(tool.name))


_ARTICLES: Final = frozenset(
    {"a", "an", "the", "this", "tool", "function", "to", "of", "for", "will", "is", "used", "s"}
)


def _lists_choices(argument: Argument, text: str, names: set[str]) -> bool:
    """A text that names other arguments says which of them to give."""
    if argument.values("pattern") or _LISTING.search(text[:_WINDOW]) is None:
        return False
    return not any(name != argument.name and name in text for name in names)


def _without_emoji(text: str) -> str:
    """Joiners between the parts of an emoji, and of scripts that need them, are no hiding place."""
    if text.isascii():
        return text
    return "".join(
        character
        for index, character in enumerate(text)
        if not (character in "\u200c\u200d" and 0 < index < len(text) - 1 and _joins(text[index - 1], text[index + 1]))
        and character not in _EMOJI_JOINERS - {"\u200d"}
    )


def _joins(before: str, after: str) -> bool:
    return all(ord(character) > 0x590 or character == "\ufe0f" for character in (before, after))


def _read_by_models(tool: Tool) -> Iterator[tuple[Pointer, str]]:
    """Names and texts that reach a model."""
    for key in ("name", "title", "description"):
        value = tool.definition.get(key)
        if isinstance(value, str):
            yield (*tool.path, key), value
    for graph in tool.graphs:
        for node in graph.nodes:
            yield from _of_schema(node)


def _of_schema(node: Node) -> Iterator[tuple[Pointer, str]]:
    schema = node.schema
    for key in ("title", "description", "$comment", "default", "const"):
        value = schema.get(key)
        if isinstance(value, str):
            yield (*node.path, key), value
    for key in ("enum", "examples"):
        listed = schema.get(key)
        if isinstance(listed, list):
            yield from (((*node.path, key, i), value) for i, value in enumerate(listed) if isinstance(value, str))
    declared = schema.get("properties")
    if isinstance(declared, dict):
        yield from (((*node.path, "properties", name), name) for name in declared)
