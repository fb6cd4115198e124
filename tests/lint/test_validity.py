"""Validity as an independent implementation (jsonschema-rs) and the official test suite see it.

A schema of the suite becomes an argument of a tool: the lint must find what keeps it from being JSON Schema, and refuse
a default exactly where the schema refuses that value.
"""

from __future__ import annotations

import json

import jsonschema_rs
import pytest

from catalog.lint.lint import lint
from catalog.nodes import Json

from .suite import Case, cases

CASES = list(cases())

INVALID = frozenset({"TSL112", "TSL114", "TSL121", "TSL122", "TSL125"})
"""What keeps a schema from being used at all."""
BUNDLED = "https://json-schema.org/draft/2020-12/schema"
"""jsonschema-rs has the official meta-schema at hand; the lint refuses every reference out of the schema."""

JUNK: tuple[Json, ...] = (
    *(5, -1, 1.5, "x", "(", "#/nowhere", "http://elsewhere.test/x", None, True, {}, [], [1], ["a", "a"], [{}], [5, {}]),
    *({"a": 5}, {"a": {}}, {"a": ["b", "b"]}, {"(": {}}),
)
"""Values that most keywords refuse."""


PLACE = ("inputSchema", "properties", "value")


def argument(schema: dict[str, Json], **more: Json) -> dict[str, Json]:
    """A tool that takes what `schema` allows. The schema keeps its own root, so that its references mean the same."""
    embedded: dict[str, Json] = {"$id": "https://tool.test/schemas/value", **schema, **more}
    properties: Json = {"type": "object", "properties": {"value": embedded}}
    return {"name": "get_value", "description": "Returns the value.", "inputSchema": properties}


def faults(schema: dict[str, Json]) -> set[str]:
    """The rules by which the lint finds that it is no valid schema."""
    return {finding.rule.id for finding in lint(argument(schema)).findings} & INVALID


def refuses(schema: dict[str, Json], value: Json) -> bool:
    """Whether the lint finds that the schema refuses `value` as its default."""
    findings = lint(argument(schema, default=value)).findings
    assert all(finding.rule.id != "TSL128" for finding in findings)
    return any(finding.rule.id == "TSL119" and finding.path == (*PLACE, "default") for finding in findings)


def independent(schema: dict[str, Json]) -> jsonschema_rs.Draft202012Validator | None:
    """None for a schema that it refuses."""
    try:
        return jsonschema_rs.Draft202012Validator(schema, offline=True)
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError):
        return None


def test_the_suite_is_there() -> None:
    """Nearly all of it applies."""
    assert len(CASES) > 350
    assert sum(len(case.tests) for case in CASES) > 1_200


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_schema_of_the_suite_is_valid_for_both_or_for_none(case: Case) -> None:
    """What is invalid here refers to the suite's own servers; only the official meta-schema is known to one of both."""
    refers_out = independent(case.schema) is None or f'"{BUNDLED}"' in json.dumps({**case.schema, "$schema": None})
    assert faults(case.schema) == ({"TSL122"} if refers_out else set())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_default_is_refused_exactly_where_the_schema_refuses_it(case: Case) -> None:
    """By the suite's word and by the independent implementation's."""
    validator = independent(case.schema)
    if validator is None or faults(case.schema):
        pytest.skip("it refers out of itself")
    for value, valid in case.tests:
        assert refuses(case.schema, value) != valid, value
        assert validator.is_valid(value) == valid, value


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_broken_keyword_is_found_exactly_where_the_other_implementation_finds_it(case: Case) -> None:
    """Each keyword of each schema with each junk value: some are still valid, most are not."""
    for keyword in case.schema:
        if keyword in ("$id", "$schema"):
            continue
        for value in JUNK:
            if (keyword, value) != ("$ref", "x"):  # the name of a file beside this one: without a place it has none
                broken = {**case.schema, keyword: value}
                assert bool(faults(broken)) == (independent(broken) is None), (keyword, value)
