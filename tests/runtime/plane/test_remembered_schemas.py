"""Schemas that were found sound are remembered; what was not is found again, and what is only alike is another one."""

from __future__ import annotations

import pytest
from jsonschema import SchemaError
from jsonschema.validators import Draft4Validator, Draft202012Validator

from aop_runtime.declarations import Json
from aop_runtime.plane.bounded import errors, evaluator


def test_a_schema_that_is_none_is_refused_each_time() -> None:
    """That a sound one, or the same one, was asked for before makes no difference."""
    evaluator({"type": "string"})
    for _ in range(2):
        with pytest.raises(SchemaError):
            evaluator({"type": "strange"})


def test_a_schema_is_judged_by_its_own_dialect() -> None:
    """What one version of JSON Schema takes another does not."""
    exclusive: dict[str, Json] = {"minimum": 1, "exclusiveMinimum": True}
    evaluator(exclusive, Draft4Validator)
    with pytest.raises(SchemaError):
        evaluator(exclusive, Draft202012Validator)


def test_what_equals_in_python_is_another_schema() -> None:
    """`True` and 1 are one key there, and one value; a schema that was changed afterwards is checked anew."""
    evaluator({"minimum": 1})
    with pytest.raises(SchemaError):
        evaluator({"minimum": True})
    changed: dict[str, Json] = {"type": "integer"}
    evaluator(changed)
    changed["type"] = "strange"
    with pytest.raises(SchemaError):
        evaluator(changed)


def test_values_are_judged_by_the_schema_that_is_given() -> None:
    """Twice the same one, as two phases of a run ask for it."""
    for _ in range(2):
        found = evaluator({"type": "object", "required": ["a"]})
        assert [error.validator for error in errors(found, {}, 5)] == ["required"]
        assert errors(found, {"a": 1}, 5) == []
