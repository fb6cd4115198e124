"""Values in place of a hand-over's placeholders, and the arguments by which an agent passes them. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from aop_runtime.declarations import Json

LONGEST_VALUE: Final = 100_000
"""Code points of one value."""

LONGEST_TEXT: Final = 4_000_000
"""Code points of a text with its values: a placeholder may stand in it a hundred thousand times."""


def substitute(text: str, values: Mapping[str, str]) -> str:
    """`text` with each placeholder replaced by its value as it is, with no quoting; all else stays.

    One pass from left to right, at each place the longest placeholder that stands there: what a value brings along is
    never taken for a placeholder. Raises ValueError where it would become longer than `LONGEST_TEXT`.
    """
    if not values:
        return text
    longest_first = sorted(values, key=lambda mark: (-len(mark), mark))
    pattern = re.compile("|".join(map(re.escape, longest_first)))
    grows = sum(len(values[found[0]]) - len(found[0]) for found in pattern.finditer(text))
    if grows > 0 and len(text) + grows > LONGEST_TEXT:
        raise ValueError(f"with these values the text has {len(text) + grows} characters: at most {LONGEST_TEXT}")
    return pattern.sub(lambda found: values[found[0]], text)


def argument_names(placeholders: Sequence[str]) -> dict[str, str]:
    """Placeholder by argument: `value_1` and so on, as declared. Providers take no other names than ASCII ones."""
    return {f"value_{place}": mark for place, mark in enumerate(placeholders, start=1)}


def input_schema(placeholders: Sequence[str]) -> dict[str, Json]:
    """One required text a placeholder, with the placeholder as its title; nothing else."""
    names = argument_names(placeholders)
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "title": mark, "maxLength": LONGEST_VALUE} for name, mark in names.items()
        },
        "required": list(names),
        "additionalProperties": False,
    }


def values_of(arguments: Mapping[str, Json], placeholders: Sequence[str]) -> dict[str, str]:
    """Value by placeholder. Raises ValueError for arguments that do not fit `input_schema`."""
    names = argument_names(placeholders)
    if arguments.keys() != names.keys():
        raise ValueError(f"the arguments are {', '.join(names) or 'none'}")
    values: dict[str, str] = {}
    for name, mark in names.items():
        value = arguments[name]
        if not isinstance(value, str) or len(value) > LONGEST_VALUE:
            raise ValueError(f"{name} ({mark}) is a text of at most {LONGEST_VALUE} characters")
        values[mark] = value
    return values
