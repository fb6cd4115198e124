"""What is read, what is refused as unreadable, and where things stand."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import CatalogError
from catalog.lint.json_text import NotJson, lines, survey
from catalog.lint.limits import MAX_BYTES, MAX_DEPTH, MAX_FINDINGS, MAX_VALUES
from catalog.lint.lint import lint_bytes
from catalog.lint.pointer import Pointer
from catalog.lint.reading import read
from catalog.nodes import Json

BROKEN = (
    *(
        "",
        " ",
        "[",
        "{",
        "]",
        "[1,]",
        "[,1]",
        "[1 2]",
        "{'a': 1}",
        '{"a"}',
        '{"a":}',
        '{"a":1,}',
        "{1: 2}",
        '{"a":1 "b":2}',
    ),
    *(
        "01",
        "1.",
        ".5",
        "+1",
        "-",
        "1e",
        "nul",
        "True",
        "NaN",
        "Infinity",
        '"',
        '"\t"',
        '"\\x"',
        '"\\u12"',
        "1 2",
        "[1}",
        "//",
    ),
)


@pytest.mark.parametrize("text", BROKEN)
def test_what_is_no_json_is_unreadable(text: str) -> None:
    """As the standard library sees it, but for NaN and Infinity, which no standard knows."""
    with pytest.raises(CatalogError):
        read(text.encode(), "tools.json")
    if text not in ("NaN", "Infinity"):
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)


def test_the_place_of_the_fault_is_said() -> None:
    """Line and column, in both languages."""
    with pytest.raises(CatalogError) as caught:
        read(b'{"name": "a",\n "b": }', "tools.json")
    assert caught.value.message("en") == "tools.json:2: this is not JSON (column 7)."
    assert caught.value.message("ja") == "tools.json:2: JSON として読めません（column 7）。"


def test_bytes_that_are_no_text_are_unreadable() -> None:
    """With the line."""
    with pytest.raises(CatalogError, match=r"^tools\.json:2: the bytes are not UTF-8"):
        read(b'["a",\n"\xff"]', "tools.json")


@pytest.mark.parametrize("text", ['\ufeff["a"]', '["\\ud800"]', "[1e999, -1e999]", f"[{'9' * 5_000}]", '["\\u0000"]'])
def test_odd_json_is_json(text: str) -> None:
    """A byte order mark, half a character, numbers beyond every machine's."""
    report, _ = lint_bytes(text.encode(), "tools.json")
    assert {finding.rule.id for finding in report.findings} == {"TSL101"}


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def places(value: Json, path: Pointer = ()) -> list[Pointer]:
    found = [path]
    if isinstance(value, dict):
        found += [place for name, entry in value.items() for place in places(entry, (*path, name))]
    if isinstance(value, list):
        found += [place for index, entry in enumerate(value) for place in places(entry, (*path, index))]
    return found


def depth(value: Json) -> int:
    if isinstance(value, dict | list):
        return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)
    return 0


@given(values, st.sampled_from([None, 0, 1]), st.booleans())
def test_any_json_text_is_surveyed_as_it_is(value: Json, indent: int | None, ascii_only: bool) -> None:
    """Depth, number of values, and the line of each: with one value a line they all differ."""
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    found = survey(text, max_depth=MAX_DEPTH, max_values=MAX_VALUES)
    assert (found.depth, found.values, found.duplicates) == (depth(value), len(places(value)), [])
    where = lines(text, places(value))
    assert list(where) == places(value)
    if indent == 1:
        shown = text.split("\n")
        assert all(
            json.dumps(place[-1], ensure_ascii=ascii_only) in shown[line - 1]
            for place, line in where.items()
            if place and isinstance(place[-1], str)
        )


@given(st.text('[]{}:,"\\ \n\t01-+.eEtrufalsn/', max_size=20))
def test_a_text_is_json_exactly_where_the_standard_library_reads_it(text: str) -> None:
    """Whatever it is made of."""
    try:
        json.loads(text)
        readable = True
    except (json.JSONDecodeError, RecursionError):
        readable = False
    try:
        survey(text, max_depth=MAX_DEPTH, max_values=MAX_VALUES)
        ours = True
    except NotJson as error:
        assert 0 <= error.offset <= len(text)
        ours = False
    assert ours == readable


def test_a_member_that_stands_twice_is_found_where_the_later_one_stands() -> None:
    """However its name is written."""
    report, given_input = lint_bytes(b'[{"a": 1,\n "b": {"c": 1, "\\u0063": 2}}]', "-")
    (twice,) = [finding for finding in report.findings if finding.rule.id == "TSL003"]
    assert twice.path == (0, "b", "c")
    assert given_input.lines([twice.path]) == {twice.path: 2}


def test_a_catalog_in_yaml_is_known_by_its_name_or_its_first_keys() -> None:
    """From standard input it has no name."""
    text = b"version: 1\ntools:\n- name: a\n  kind: mcp\n  operations:\n  - name: get_report\n    effect: read\n"
    for name in ("tools.yaml", "tools.YML", "-"):
        report, given_input = lint_bytes(text, name)
        assert [finding.rule.id for finding in report.findings] == ["TSL103", "TSL315"]
        assert set(given_input.lines(finding.path for finding in report.findings).values()) == {6}
    with pytest.raises(CatalogError, match="not JSON"):
        lint_bytes(text, "tools.json")


@pytest.mark.parametrize(
    "text", ["a: *x", "- !!python/object:os.system {}", "a: 1\n---\nb: 2", "a: [", "? [1]\n: 2", "a: 1\na: 2"]
)
def test_yaml_that_is_more_than_json_is_unreadable(text: str) -> None:
    """As in catalogs."""
    with pytest.raises(CatalogError):
        lint_bytes(text.encode(), "tools.yaml")


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "TSL002"),
        (b'{"a":' * 70 + b"1" + b"}" * 70, "TSL002"),
        (b"[" + b"0," * MAX_VALUES + b"0]", "TSL001"),
        (b'"' + b"a" * MAX_BYTES + b'"', "TSL001"),
    ],
    ids=["deep list", "deep object", "many values", "many bytes"],
)
def test_what_is_beyond_the_limits_gets_a_result(content: bytes, rule: str) -> None:
    """And is not looked into."""
    report, _ = lint_bytes(content, "-")
    assert [finding.rule.id for finding in report.findings] == [rule]
    assert not report.structurally_valid


def test_the_first_findings_are_shown_and_all_are_counted() -> None:
    """The verdict would be the same without the rest."""
    report, _ = lint_bytes(json.dumps([{"name": f"get_report_{i}"} for i in range(2_000)]).encode(), "-")
    assert len(report.findings) == MAX_FINDINGS + 1
    assert report.findings[-1].rule.id == "TSL004"
    assert report.findings[-1].arguments == {"count": 2_000 * 2 - MAX_FINDINGS}
