"""Whatever JSON is given gets a result of the promised shape, and nothing raises."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from catalog.lint import json_text
from catalog.lint.command import run
from catalog.lint.lint import lint
from catalog.lint.pointer import Pointer, to_text
from catalog.lint.registry import RULES
from catalog.lint.schema.dialect import DRAFT_07, LATEST
from catalog.lint.schema.wellformed import expectations
from catalog.nodes import Json

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["object", "array", "string", "#", "#/$defs/a", "#a", "^(a+)+$", "date", "(", "http://a.test/#b"])
)
names = st.sampled_from(
    [
        *(
            "name",
            "description",
            "inputSchema",
            "input_schema",
            "parameters",
            "function",
            "type",
            "tools",
            "operations",
        ),
        *("version", "kind", "result", "jsonrpc", "annotations", "readOnlyHint", "outputSchema", "effect", "confirm"),
    ]
)
keywords = st.sampled_from(sorted({*expectations(LATEST), *expectations(DRAFT_07)}))
members = st.sampled_from(
    ["a", "b", "url", "password", "is_admin", "path", "command", "action", "date", "timeout", "^a", ""]
)


def json_values(keys: st.SearchStrategy[str]) -> st.SearchStrategy[Json]:
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=5),
        max_leaves=25,
    )


anything = json_values(names | keywords | members | st.text(max_size=4))

schemas: st.SearchStrategy[Json] = st.deferred(
    lambda: st.dictionaries(keywords, scalars | schemas | st.lists(schemas, max_size=3) | by_name, max_size=5)
)
by_name: st.SearchStrategy[Json] = st.dictionaries(members, schemas | st.lists(members, max_size=2), max_size=3)
tools: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {"name": st.sampled_from(["get_a", "delete_a", "run_shell", "x"]) | scalars, "description": scalars},
    optional={"inputSchema": schemas, "parameters": schemas, "outputSchema": schemas, "annotations": anything},
)


def at(value: Json, path: Pointer) -> Json:
    for step in path:
        if isinstance(value, dict):
            value = value[str(step)]
        else:
            assert isinstance(value, list)
            value = value[int(step)]
    return value


def check(value: Json) -> None:
    text = json.dumps(value)
    report = lint(value)
    assert lint(value) == report
    for strict in (False, True):
        for lang in ("ja", "en"):
            result = report.as_dict("en" if lang == "en" else "ja", strict=strict)
            assert list(result) == ["structurally_valid", "strict_pass", "findings"]
            levels = {RULES[found["rule"]].level for found in result["findings"]}
            assert result["structurally_valid"] == ("structural" not in levels)
            assert result["strict_pass"] == levels.isdisjoint({"structural", "strict"})
            for found in result["findings"]:
                assert list(found) == ["rule", "severity", "path", "message", "help"]
                assert found["severity"] == _severity(found["rule"], strict=strict)
                assert found["message"].isprintable()
                assert found["help"].isprintable()
    paths = {finding.path for finding in report.findings}
    for path in paths:
        at(value, path)
    assert set(json_text.lines(text, paths)) == paths
    assert json.dumps(value) == text


def _severity(rule: str, *, strict: bool) -> str:
    return {"structural": "error", "strict": "error" if strict else "warning", "advice": "warning"}[RULES[rule].level]


@given(anything)
def test_any_value(value: Json) -> None:
    """Every finding points at something in the input, and says so on one line; the input is left as it is."""
    check(value)


@given(tools | st.lists(tools, max_size=4))
def test_any_tool(value: Json) -> None:
    """Schemas of real keywords with right, wrong and nonsensical values."""
    check(value)


@given(anything | tools)
def test_any_value_can_be_printed(value: Json) -> None:
    """In every form, with an exit status of 0 or 1 that agrees with the verdict."""
    content = json.dumps(value).encode()
    report = lint(value)
    for strict in (False, True):
        outcomes = [run(content, "a.json", strict=strict, form=form, lang="ja") for form in ("text", "json", "sarif")]
        assert {outcome.status for outcome in outcomes} == {0 if report.passes(strict=strict) else 1}
        assert json.loads(outcomes[1].output) == report.as_dict("ja", strict=strict)
        assert len(json.loads(outcomes[2].output)["runs"][0]["results"]) == len(report.findings)


@given(st.lists(st.text(max_size=5) | st.integers(0, 99), max_size=5))
def test_a_pointer_is_written_as_rfc_6901_has_it(path: list[str | int]) -> None:
    """Each step behind a slash, with both signs escaped."""
    steps = to_text(tuple(path)).split("/")[1:]
    assert [step.replace("~1", "/").replace("~0", "~") for step in steps] == [str(step) for step in path]
