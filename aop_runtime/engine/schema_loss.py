"""What of a tool's schema a provider is not shown, since it supports a part of JSON Schema only.

pydantic-ai rewrites a schema for the provider that it goes to. Whatever that leaves out stays in force: the plane
judges every call by the whole schema.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic_ai.exceptions import UserError
from pydantic_ai.models import Model

from aop_runtime.declarations import Json
from aop_runtime.plane.registry import Offer

_SAYS_NOTHING = frozenset(
    {"$schema", "$id", "$comment", "title", "description", "examples", "default", "$ref", "$defs"}
)


def losses(model: Model, offered: Sequence[Offer]) -> list[str]:
    """One line a tool that loses something: `find: maxLength (2), pattern`."""
    transformer = model.profile.get("json_schema_transformer")
    if transformer is None:
        return []
    found: list[str] = []
    for offer in offered:
        before = Counter(_keywords(dict(offer.input_schema)))
        try:
            after = Counter(_keywords(transformer(dict(offer.input_schema), strict=False).walk()))
        except UserError:
            # The request will say so, and why.
            continue
        lost = before - after
        if lost:
            words = [word if count == 1 else f"{word} ({count})" for word, count in sorted(lost.items())]
            found.append(f"{offer.name}: {', '.join(words)}")
    return found


def _keywords(schema: Json) -> Iterator[str]:
    """Every keyword of a schema that judges values, as often as it is there."""
    waiting: list[tuple[Json, bool]] = [(schema, False)]
    while waiting:
        current, names = waiting.pop()
        if isinstance(current, list):
            waiting += [(entry, False) for entry in current]
        elif isinstance(current, Mapping):
            for key, value in current.items():
                if names:
                    waiting.append((value, False))
                    continue
                if key not in _SAYS_NOTHING:
                    yield key
                if key not in ("enum", "const", "default", "examples"):
                    waiting.append((value, key in ("properties", "patternProperties", "$defs", "dependentSchemas")))
