"""Which documents a recompile is about."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from workers.choices import exactly_one

MAX_IDS = 10_000

Word = Annotated[str, StringConstraints(min_length=1, max_length=512)]


class Scope(BaseModel):
    """Exactly one of its fields says which. `all`: every document; `stale`: those that a compile would change; `using`:
    those whose procedure may use that tool; `prefix`: those whose ids begin so; `ids`: these."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    all: Literal[True] | None = None
    stale: Literal[True] | None = None
    using: Word | None = None
    prefix: Word | None = None
    ids: Annotated[tuple[Word, ...], Field(min_length=1, max_length=MAX_IDS, strict=False)] | None = None

    @model_validator(mode="after")
    def _one(self) -> Scope:
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            raise exactly_one(type(self).model_fields)
        return self

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(self.ids or ())

    @property
    def text(self) -> str:
        return self.model_dump_json(exclude_none=True)

    def names(self, document: str) -> bool:
        """Whether the document belongs to it, as far as its id alone tells."""
        if self.prefix is not None:
            return document.startswith(self.prefix)
        return self.ids is None or document in self._ids
