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


def pair(gone: Sequence[Facts], added: Sequence[Facts]) -> dict[str, Facts]:
    """By the name that went: each at most once, the most alike first. None where there is too much to compare."""
    if len(gone) * len(added) > _MOST_COMPARED:
        return {}
    scored = sorted(
        ((-alike(old, new), old.name, new.name) for old in gone for new in added if alike(old, new) >= ENOUGH),
    )
    by_name = {facts.name: facts for facts in added}
    found: dict[str, Facts] = {}
    for _, old, new in scored:
        if old not in found and new in by_name:
            found[old] = by_name.pop(new)
    return found


def alike(old: Facts, new: Facts) -> float:
    """Names and arguments count alike; the very same arguments (with some) need only a faint likeness of names."""
    names = name_likeness(old.name, new.name)
    arguments = _arguments(old.schema), _arguments(new.schema)
    if not arguments[0] and not arguments[1]:
        same = old.description == new.description
        return max(names, 0.5 + names / 2) if same else names
    shared = arguments[0].items() & arguments[1].items()
    overlap = len(shared) / len({*arguments[0].items()} | {*arguments[1].items()})
    return (names + overlap) / 2 if overlap < 1 else 0.55 + 0.45 * names


def name_likeness(old: str, new: str) -> float:
    """Of two names, their words in any order: `send_message`, `message-send`."""
    return token_sort_ratio(old.replace("_", " "), new.replace("_", " "), processor=default_process) / 100


def _arguments(schema: str) -> Mapping[str, str]:
    properties = json.loads(schema).get("properties") if schema else None
    if not isinstance(properties, dict):
        return {}
    return {str(name): str(entry.get("type")) if isinstance(entry, dict) else "" for name, entry in properties.items()}
