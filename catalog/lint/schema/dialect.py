"""Where schemas stand inside schemas, in the two dialects that we judge by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Name = Literal["2020-12", "draft-07"]


@dataclass(frozen=True, slots=True)
class Dialect:
    """Keywords whose value is a schema (`one`), a list of schemas (`many`), schemas by name (`named`), a schema or a
    list of schemas (`one_or_many`), by name schemas or lists of names (`named_or_names`). `unknown`: keywords of other
    dialects, which say nothing here. `ref_stands_alone`: what stands beside `$ref` says nothing either."""

    name: Name
    one: frozenset[str]
    many: frozenset[str]
    named: frozenset[str]
    one_or_many: frozenset[str]
    named_or_names: frozenset[str]
    unknown: frozenset[str]
    ref_stands_alone: bool


_ONE: Final = frozenset({"additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"})
_MANY: Final = frozenset({"allOf", "anyOf", "oneOf"})
_NAMED: Final = frozenset({"properties", "patternProperties", "definitions"})
_NEW: Final = frozenset(
    {"prefixItems", "unevaluatedItems", "unevaluatedProperties", "dependentSchemas", "dependentRequired"}
    | {"minContains", "maxContains", "$dynamicRef", "$anchor", "$dynamicAnchor", "contentSchema"}
)

LATEST: Final = Dialect(
    name="2020-12",
    one=_ONE | {"items", "unevaluatedItems", "unevaluatedProperties", "contentSchema"},
    many=_MANY | {"prefixItems"},
    named=_NAMED | {"$defs", "dependentSchemas"},
    one_or_many=frozenset(),
    named_or_names=frozenset({"dependencies"}),
    unknown=frozenset({"additionalItems"}),
    ref_stands_alone=False,
)
DRAFT_07: Final = Dialect(
    name="draft-07",
    one=_ONE | {"additionalItems"},
    many=_MANY,
    named=_NAMED,
    one_or_many=frozenset({"items"}),
    named_or_names=frozenset({"dependencies"}),
    unknown=_NEW,
    ref_stands_alone=True,
)

DEFINITIONS: Final = frozenset({"$defs", "definitions"})
SAME_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "if", "then", "else", "not", "dependentSchemas"})
"""Keywords whose schemas look at the same value as the schema that holds them; `$ref` is one more."""

_KNOWN: Final[dict[str, Dialect]] = {
    "https://json-schema.org/draft/2020-12/schema": LATEST,
    "http://json-schema.org/draft-07/schema": DRAFT_07,
}
_CLOSE: Final[dict[str, Dialect]] = {
    "https://json-schema.org/draft/2019-09/schema": LATEST,
    "http://json-schema.org/draft-06/schema": DRAFT_07,
    "http://json-schema.org/draft-04/schema": DRAFT_07,
}


def dialect_of(declared: object) -> tuple[Dialect, bool]:
    """The dialect to judge by, for a root's `$schema`, and whether it is the declared one. None declared: 2020-12."""
    if declared is None:
        return LATEST, True
    if not isinstance(declared, str):
        return LATEST, False
    address = declared.removesuffix("#")
    for scheme, other in (("http://", "https://"), ("https://", "http://")):
        for spelling in (address, address.replace(scheme, other, 1)):
            if spelling in _KNOWN:
                return _KNOWN[spelling], True
            if spelling in _CLOSE:
                return _CLOSE[spelling], False
    return LATEST, False
