"""JSON pointers (RFC 6901)."""

from __future__ import annotations

import re
from typing import TypeAlias

Pointer: TypeAlias = "tuple[str | int, ...]"
"""Member names and array indices, from the root of the input."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")


def to_text(pointer: Pointer) -> str:
    """`/tools/0/name`; the whole document is the empty string."""
    return "".join(f"/{str(step).replace('~', '~0').replace('/', '~1')}" for step in pointer)


def from_text(text: str) -> tuple[str, ...]:
    """The unescaped steps of a pointer; `text` is empty or begins with a slash."""
    return tuple(step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:])


def index_of(step: str) -> int | None:
    """The array index that a step means, None where it means none."""
    return int(step) if _INDEX.fullmatch(step) else None
