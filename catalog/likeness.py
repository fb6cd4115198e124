"""Which of the operations (or tools) that came is one that went, under another name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from rapidfuzz.fuzz import token_sort_ratio
from rapidfuzz.utils import default_process

if TYPE_CHECKING:
    from catalog.drift import Facts

ENOUGH: Final = 0.65
"""From 0 to 1: how alike two must be."""

_MOST_COMPARED: Final = 40_000
_LONGEST: Final = 200


def pair(gone: Sequence[Facts], added: Sequence[Facts]) -> dict[str, Facts]:
    """By the name that went: each at most once, the most alike first. None where there is too much to compare."""
    if len(gone) * len(added) > _MOST_COMPARED:
        return {}
    arguments = {facts.schema: _arguments(facts.schema) for facts in (*gone, *added)}
    likenesses = (
        (alike(old, new, arguments[old.schema], arguments[new.schema]), old.name, new.name)
        for old in gone
        for new in added
    )
    scored = sorted((-likeness, old, new) for likeness, old, new in likenesses if likeness >= ENOUGH)
    by_name = {facts.name: facts for facts in added}
    found: dict[str, Facts] = {}
    for _, old, new in scored:
        if old not in found and new in by_name:
            found[old] = by_name.pop(new)
    return found


def alike(old: Facts, new: Facts, took: Mapping[str, str], takes: Mapping[str, str]) -> float:
    """Names and arguments count alike; the very same arguments (with some) need only a faint likeness of names.

    `took`, `takes`: the types of their arguments, by name.
    """
    names = name_likeness(old.name, new.name)
    if not took and not takes:
        same = old.description == new.description
        return max(names, 0.5 + names / 2) if same else names
    overlap = len(took.items() & takes.items()) / len(took.items() | takes.items())
    return (names + overlap) / 2 if overlap < 1 else 0.55 + 0.45 * names


def name_likeness(old: str, new: str) -> float:
    """Of two names, their words in any order: `send_message`, `message-send`. What is longer than names are is cut."""
    old, new = old[:_LONGEST], new[:_LONGEST]
    return token_sort_ratio(old.replace("_", " "), new.replace("_", " "), processor=default_process) / 100


def _arguments(schema: str) -> Mapping[str, str]:
    properties = json.loads(schema).get("properties") if schema else None
    if not isinstance(properties, dict):
        return {}
    return {str(name): str(entry.get("type")) if isinstance(entry, dict) else "" for name, entry in properties.items()}
