"""A model can tell the tools apart: by name, by description, by what they take."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Final

from rapidfuzz.fuzz import ratio

from catalog.fold import fold
from catalog.lint.pointer import to_text
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.schema.equality import key
from catalog.lint.schema.facts import members, names, types
from catalog.lint.tools import Tool
from catalog.lint.words import singular, words

INDISTINCT: Final = Rule(
    "TSL314",
    "tools-indistinct",
    "strict",
    Text(
        "ツール「{tool}」は {other}（{place}）と区別できません（{why_ja}）。",
        "tool `{tool}` cannot be told from `{other}` at {place} ({why}).",
    ),
    Text(
        "どちらを使うかが名前と説明でわかるように書き分けるか、1 つのツールにまとめてください。",
        "Make names and descriptions say which one to use when, or make one tool of them.",
    ),
)

RULES: Final = (INDISTINCT,)

_SAME_MEANING: Final = {
    **dict.fromkeys(("get", "fetch", "retrieve", "read", "show", "lookup", "describe"), "get"),
    **dict.fromkeys(("find", "search", "query"), "search"),
    **dict.fromkeys(("create", "make", "new"), "create"),
    **dict.fromkeys(("update", "edit", "modify", "change", "patch"), "update"),
    **dict.fromkeys(("delete", "remove", "destroy", "erase"), "delete"),
    **dict.fromkeys(("run", "execute", "exec", "invoke"), "run"),
    **dict.fromkeys(("send", "post"), "send"),
}
_FILLERS: Final = frozenset({"a", "an", "the", "of", "for", "to", "by", "from", "in", "with"})
_ALIKE: Final = 95
"""Of 100: descriptions that say the same."""
_COMPARED: Final = 40
"""Others that a tool is compared with, letter by letter, among those that take the same."""
_WINDOW: Final = 600


def check_all(tools: Sequence[Tool]) -> Iterator[Finding]:
    groups: dict[Hashable, list[Tool]] = {}
    for tool in tools:
        groups.setdefault(tool.group, []).append(tool)
    for group in groups.values():
        yield from _among(group)


def _among(tools: list[Tool]) -> Iterator[Finding]:
    by_description: dict[str, Tool] = {}
    by_name: dict[Hashable, Tool] = {}
    by_shape: dict[Hashable, list[tuple[Tool, str]]] = {}
    for tool in tools:
        if not tool.name:
            continue
        said, shape = _said(tool), _shape(tool)
        same_words = by_description.setdefault(said, tool) if said else tool
        same_name = by_name.setdefault((_meaning(tool.name), shape), tool)
        alike = by_shape.setdefault(shape, [])
        if same_words is not tool:
            yield _finding(tool, same_words, "説明が同じ", "the descriptions are the same")
        elif shape and same_name is not tool and same_name.name != tool.name:
            yield _finding(
                tool, same_name, "名前の意味と引数が同じ", "their names mean the same, and they take the same"
            )
        elif shape and said:
            other = next((entry for entry, text in alike[-_COMPARED:] if ratio(said, text) >= _ALIKE), None)
            if other is not None and _close_names(tool.name, other.name):
                yield _finding(
                    tool, other, "説明も引数もほとんど同じ", "descriptions and arguments are almost the same"
                )
        alike.append((tool, said))


def _finding(tool: Tool, other: Tool, japanese: str, english: str) -> Finding:
    return Finding(
        INDISTINCT,
        tool.path,
        {
            "tool": tool.label,
            "other": other.label,
            "place": to_text(other.path) or "/",
            "why_ja": japanese,
            "why": english,
        },
    )


def _said(tool: Tool) -> str:
    return " ".join(fold(tool.description[:_WINDOW]).split())


def _meaning(name: str) -> Hashable:
    return tuple(_SAME_MEANING.get(word, singular(word)) for word in words(name) if word not in _FILLERS)


def _close_names(one: str, other: str) -> bool:
    """Whether no word of one name stands against another word of the other: `list_a` and `list_b` differ."""
    first, second = set(words(one)), set(words(other))
    return first <= second or second <= first


def _shape(tool: Tool) -> Hashable:
    """What it takes: names, types and choices, without their descriptions."""
    if tool.graph is None:
        return None
    schema = tool.graph.root.schema
    declared = members(schema.get("properties"))
    taken = frozenset(
        (name, types(entry), key(entry.get("enum"))) if isinstance(entry, dict) else (name, (), None)
        for name, entry in declared.items()
    )
    return (taken, frozenset(names(schema.get("required"))))
