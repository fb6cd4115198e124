"""Whether a schema allows a value, within bounds.

Written here and not taken from a library because the schema is a stranger's: references that multiply, patterns made to
backtrack, long lists to compare must end in "undecided", not in a stalled or exhausted process. The official test suite
and an independent implementation check it (`docs/decisions`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Final, NamedTuple, TypeAlias

from catalog.lint.regex.pattern import read_pattern
from catalog.lint.schema.assertions import ASSERTIONS, Undecided
from catalog.lint.schema.equality import key
from catalog.lint.schema.references import References
from catalog.nodes import Json

MAX_DEPTH: Final = 100
"""Schemas within schemas that are being looked at: what a recursive schema unfolds to counts."""
DEFAULT_STEPS: Final = 1_000_000
MAX_WEIGHT: Final = 2_000
"""Values within a value that is looked at."""
STRING_WEIGHT: Final = 50
"""Characters of a text that weigh as much as a value."""

_Object: TypeAlias = "dict[str, Json]"
_Seen: TypeAlias = "set[str | int]"


class Budget:
    """How much work may still be done, shared by everything that one lint evaluates."""

    def __init__(self, steps: int = DEFAULT_STEPS) -> None:
        self._left = steps

    @property
    def exhausted(self) -> bool:
        return self._left < 0

    def spend(self, steps: int) -> None:
        """Raises Undecided when nothing is left."""
        self._left -= steps
        if self._left < 0:
            raise Undecided


class _Place(NamedTuple):
    """Where a schema is being looked at. `scope`: the resources that were entered, outermost first ($dynamicRef)."""

    scope: tuple[str, ...]
    depth: int


class Evaluation:
    """`references`: of the schemas that will be asked about; all of them are well-formed.

    `max_weight`: how many values a judged value may hold.
    """

    def __init__(self, references: References, budget: Budget, max_weight: int = MAX_WEIGHT) -> None:
        self._references = references
        self._budget = budget
        self._max_weight = max_weight
        self._weights: dict[int, int] = {}  # by id: the schemas and values live as long as we do
        self._enums: dict[int, frozenset[Hashable]] = {}

    def judge(self, schema: Json, *, without: str = "") -> Callable[[Json], bool]:
        """Whether `schema`, all but one of its keywords if `without` names one, allows a value.

        What it returns raises Undecided.
        """
        if not isinstance(schema, dict):
            return lambda value: schema is True
        place = self._enter(schema, _Place((), 0))
        considered = {keyword: entry for keyword, entry in schema.items() if keyword != without}

        def allows(value: Json) -> bool:
            if self._weight(value) > self._max_weight:
                raise Undecided
            return self._keywords(considered, value, place) is not None

        return allows

    def _weight(self, value: Json) -> int:
        """How many values it holds, itself counted, each long text for many; beyond MAX_WEIGHT nothing is counted."""
        if not isinstance(value, list | dict):
            return 1 + len(value) // STRING_WEIGHT if isinstance(value, str) else 1
        known = self._weights.get(id(value))
        if known is None:
            known = 1
            for entry in value if isinstance(value, list) else value.values():
                known += self._weight(entry)
                if known > MAX_WEIGHT:
                    break
            self._weights[id(value)] = known
        return known

    def _look(self, schema: Json, value: Json, place: _Place) -> _Seen | None:
        """The names and indices that were looked at; None where the schema refuses the value."""
        self._budget.spend(1)
        if place.depth > MAX_DEPTH:
            raise Undecided
        if not isinstance(schema, dict):
            return set() if schema is True else None
        return self._keywords(schema, value, self._enter(schema, place))

    def _enter(self, schema: _Object, place: _Place) -> _Place:
        base = self._references.base(schema)
        scope = place.scope if place.scope and place.scope[-1] == base else (*place.scope, base)
        return _Place(scope, place.depth + 1)

    def _keywords(self, schema: _Object, value: Json, place: _Place) -> _Seen | None:
        dialect = self._references.dialect
        if "$ref" in schema and dialect.ref_stands_alone:
            return self._reference(schema, "$ref", value, place)
        seen: _Seen = set()
        last: list[str] = []
        for keyword, expected in schema.items():
            if keyword in dialect.unknown:
                continue
            if keyword in ASSERTIONS:
                self._budget.spend(self._weight(value) if keyword == "uniqueItems" else 1)
                if not ASSERTIONS[keyword](expected, value):
                    return None
            elif keyword in _LAST:
                last.append(keyword)
            elif keyword in _LOOKS:
                found = _LOOKS[keyword](self, schema, keyword, value, place)
                if found is None:
                    return None
                seen |= found
        for keyword in last:
            found = self._unevaluated(schema[keyword], keyword, value, seen, place)
            if found is None:
                return None
            seen |= found
        return seen

    # Each of these looks at one keyword, and answers as `_look` does.

    def _reference(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        return self._look(self._references.followed(keyword, schema[keyword], place.scope), value, place)

    def _const(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        self._budget.spend(self._weight(value))
        return set() if key(schema[keyword]) == key(value) else None

    def _enum(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        self._budget.spend(self._weight(value))
        listed = schema[keyword]
        if id(listed) not in self._enums:
            self._enums[id(listed)] = frozenset(key(entry) for entry in _listed(listed))
        return set() if key(value) in self._enums[id(listed)] else None

    def _all_of(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        seen: _Seen = set()
        for part in _listed(schema[keyword]):
            found = self._look(part, value, place)
            if found is None:
                return None
            seen |= found
        return seen

    def _any_of(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        results = [self._look(part, value, place) for part in _listed(schema[keyword])]
        allowed = [found for found in results if found is not None]
        if not allowed or (keyword == "oneOf" and len(allowed) > 1):
            return None
        return set().union(*allowed)

    def _not(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        return set() if self._look(schema[keyword], value, place) is None else None

    def _if(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        condition = self._look(schema[keyword], value, place)
        branch = "else" if condition is None else "then"
        found = self._look(schema[branch], value, place) if branch in schema else set()
        return None if found is None else found | (condition or set())

    def _dependent_schemas(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        """`dependencies` too, whose entries may be lists of names instead."""
        seen: _Seen = set()
        if not isinstance(value, dict):
            return seen
        parts = _named(schema[keyword])
        for name in value:
            part = parts.get(name, True)
            if isinstance(part, list):
                if any(other not in value for other in part):
                    return None
                continue
            found = self._look(part, value, place)
            if found is None:
                return None
            seen |= found
        return seen

    def _properties(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        parts = _named(schema[keyword])
        if not isinstance(value, dict):
            return set()
        return self._members(value, {name: [parts[name]] for name in value if name in parts}, place)

    def _pattern_properties(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        if not isinstance(value, dict):
            return set()
        asked: dict[str, list[Json]] = {}
        for pattern, part in _named(schema[keyword]).items():
            for name in value:
                if self._matches(pattern, name):
                    asked.setdefault(name, []).append(part)
        return self._members(value, asked, place)

    def _additional_properties(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        if not isinstance(value, dict):
            return set()
        known = _named(schema.get("properties"))
        patterns = _named(schema.get("patternProperties"))
        rest = [
            name
            for name in value
            if name not in known and not any(self._matches(pattern, name) for pattern in patterns)
        ]
        return self._members(value, {name: [schema[keyword]] for name in rest}, place)

    def _members(self, value: _Object, asked: Mapping[str, list[Json]], place: _Place) -> _Seen | None:
        for name, parts in asked.items():
            for part in parts:
                if self._look(part, value[name], place) is None:
                    return None
        return set(asked)

    def _property_names(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        names = value if isinstance(value, dict) else ()
        return None if any(self._look(schema[keyword], name, place) is None for name in names) else set()

    def _prefix_items(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        if not isinstance(value, list):
            return set()
        seen: _Seen = set()
        for index, (part, entry) in enumerate(zip(_listed(schema[keyword]), value, strict=False)):
            if self._look(part, entry, place) is None:
                return None
            seen.add(index)
        return seen

    def _items(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        if isinstance(schema[keyword], list):  # draft-07's prefixItems
            return self._prefix_items(schema, keyword, value, place)
        first = len(_listed(schema.get("prefixItems"))) if "prefixItems" not in self._references.dialect.unknown else 0
        return self._entries(schema[keyword], value, first, place)

    def _additional_items(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        prefix = schema.get("items")
        return self._entries(schema[keyword], value, len(prefix), place) if isinstance(prefix, list) else set()

    def _entries(self, part: Json, value: Json, first: int, place: _Place) -> _Seen | None:
        if not isinstance(value, list):
            return set()
        for entry in value[first:]:
            if self._look(part, entry, place) is None:
                return None
        return set(range(len(value)))

    def _contains(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        if not isinstance(value, list):
            return set()
        found: _Seen = {
            index for index, entry in enumerate(value) if self._look(schema[keyword], entry, place) is not None
        }
        counted = "minContains" not in self._references.dialect.unknown
        least, most = (schema.get("minContains", 1), schema.get("maxContains")) if counted else (1, None)
        if isinstance(least, int | float) and len(found) < least:
            return None
        return None if isinstance(most, int | float) and len(found) > most else found

    def _pattern(self, schema: _Object, keyword: str, value: Json, place: _Place) -> _Seen | None:
        pattern = schema[keyword]
        if not isinstance(value, str) or not isinstance(pattern, str):
            return set()
        return set() if self._matches(pattern, value) else None

    def _unevaluated(self, part: Json, keyword: str, value: Json, seen: _Seen, place: _Place) -> _Seen | None:
        if keyword == "unevaluatedProperties":
            if not isinstance(value, dict):
                return set()
            return self._members(value, {name: [part] for name in value if name not in seen}, place)
        if not isinstance(value, list):
            return set()
        rest = [index for index in range(len(value)) if index not in seen]
        return None if any(self._look(part, value[index], place) is None for index in rest) else set(rest)

    def _matches(self, pattern: str, text: str) -> bool:
        matched, steps = read_pattern(pattern).search(text)
        self._budget.spend(steps)
        if matched is None:
            raise Undecided
        return matched


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _named(value: Json) -> _Object:
    return value if isinstance(value, dict) else {}


_Look: TypeAlias = Callable[[Evaluation, "dict[str, Json]", str, Json, _Place], "set[str | int] | None"]

_LAST: Final = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_LOOKS: Final[Mapping[str, _Look]] = {
    "$ref": Evaluation._reference,
    "$dynamicRef": Evaluation._reference,
    "const": Evaluation._const,
    "enum": Evaluation._enum,
    "allOf": Evaluation._all_of,
    "anyOf": Evaluation._any_of,
    "oneOf": Evaluation._any_of,
    "not": Evaluation._not,
    "if": Evaluation._if,
    "dependentSchemas": Evaluation._dependent_schemas,
    "dependencies": Evaluation._dependent_schemas,
    "properties": Evaluation._properties,
    "patternProperties": Evaluation._pattern_properties,
    "additionalProperties": Evaluation._additional_properties,
    "propertyNames": Evaluation._property_names,
    "prefixItems": Evaluation._prefix_items,
    "items": Evaluation._items,
    "additionalItems": Evaluation._additional_items,
    "contains": Evaluation._contains,
    "pattern": Evaluation._pattern,
}
