"""What models of requests raise of which one field says what is meant; `server.faults` says it in the language of who
asks."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic_core import PydanticCustomError


def exactly_one(names: Iterable[str]) -> PydanticCustomError:
    return PydanticCustomError("exactly_one", "send exactly one of the fields", {"fields": tuple(names)})
