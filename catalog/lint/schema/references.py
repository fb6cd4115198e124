"""What an evaluation must know of the schemas around the one that it looks at."""

from __future__ import annotations

from typing import Protocol

from catalog.lint.schema.dialect import Dialect
from catalog.nodes import Json


class References(Protocol):
    @property
    def dialect(self) -> Dialect: ...

    def base(self, schema: dict[str, Json]) -> str:
        """The address of the resource that `schema` is part of; "" where none is given."""
        ...

    def followed(self, keyword: str, reference: Json, scope: tuple[str, ...]) -> Json:
        """The schema to which `reference` leads, as `keyword` ($ref, $dynamicRef) of a schema in the last of the
        resources that were entered, outermost first. Raises Undecided where it leads nowhere."""
        ...


class NoReferences:
    """Of schemas that refer to nothing."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def base(self, schema: dict[str, Json]) -> str:
        return ""

    def followed(self, keyword: str, reference: Json, scope: tuple[str, ...]) -> Json:
        return True
