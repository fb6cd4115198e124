"""The readers keep lines and otherwise agree with the libraries that everybody uses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from catalog_files import CONFORMANCE, STOCK
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import CatalogError
from catalog.json_reader import read_json
from catalog.nodes import Fault, Json, Node
from catalog.source import compile_files
from catalog.yaml_reader import read_yaml

SCALARS = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.sampled_from([None, 0, 2]), st.booleans())
def test_json_is_read_as_the_standard_library_reads_it(value: Json, indent: int | None, ascii_only: bool) -> None:
    """Whatever `json.dumps` writes."""
    assert read_json(json.dumps(value, indent=indent, ensure_ascii=ascii_only)).json() == value


@given(st.text(alphabet='{}[]",:\\ \n\tu0123456789eE+-.truefalsn', max_size=24))
def test_json_is_accepted_exactly_where_the_standard_library_accepts_it(text: str) -> None:
    """But for repeated keys, lone surrogates and numbers beyond bounds, which we refuse."""
    try:
        expected = json.loads(text, parse_constant=_refuse, object_pairs_hook=_unique)
    except ValueError:
        with pytest.raises(Fault):
            read_json(text)
        return
    if "\\ud" in text.lower() or "inf" in repr(expected):
        return
    assert read_json(text).json() == expected


def _refuse(constant: str) -> object:
    raise ValueError(constant)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len(dict(pairs)) != len(pairs):
        raise ValueError("repeated key")
    return dict(pairs)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8), st.integers(0, 3))
def test_json_nodes_know_their_lines(values: list[int], gap: int) -> None:
    """The line on which a value begins."""
    text = "[" + "\n" * gap + (",\n" + "\n" * gap).join(map(str, values)) + "]"
    nodes = read_json(text).value
    assert isinstance(nodes, list)
    assert [node.line for node in nodes] == [1 + gap + index * (gap + 1) for index in range(len(values))]


def test_yaml_is_read_as_its_library_reads_it() -> None:
    """The catalog of the conformance cases, value for value."""
    text = CONFORMANCE.read_text(encoding="utf-8")
    assert read_yaml(text).json() == yaml.safe_load(text)


def test_yaml_words_that_are_no_json_stay_strings() -> None:
    """YAML 1.2's core schema: enum values like `on`, dates and versions must not change their type."""
    text = "[on, yes, NO, 2026-11-30, 12:30, 0x1F, 1_000, .inf, '1', \"true\", |-\n  null\n]"
    assert read_yaml(text.replace("|-\n  null\n", "x")).json() == [
        "on", "yes", "NO", "2026-11-30", "12:30", "0x1F", "1_000", ".inf", "1", "true", "x",
    ]  # fmt: skip
    assert read_yaml("a: |-\n  null\nb: >-\n  12\n").json() == {"a": "null", "b": "12"}


def test_yaml_numbers_and_constants() -> None:
    """What JSON has."""
    text = "[0, -7, +3, 19223372036854775807, 1.5, -.5, 1e3, 2., true, False, null, ~, ]"
    expected: list[Json] = [0, -7, 3, 19223372036854775807, 1.5, -0.5, 1000.0, 2.0, True, False, None, None]
    assert read_yaml(text).json() == expected


def test_yaml_nodes_know_their_lines() -> None:
    """Values, keys, items of block and flow collections, multi-line scalars."""
    node = read_yaml("a: 1\nb:\n  - x\n  - {c: 2,\n     d: 3}\ne: >\n  long\n  text\nf: 4\n")
    assert node.key_lines == {"a": 1, "b": 2, "e": 6, "f": 9}
    items = _children(_field(node, "b"))
    assert [item.line for item in items] == [3, 4]
    assert items[1].key_lines == {"c": 4, "d": 5}
    assert _field(node, "f").line == 9


def _field(node: Node, name: str) -> Node:
    assert isinstance(node.value, dict)
    return node.value[name]


def _children(node: Node) -> list[Node]:
    assert isinstance(node.value, list)
    return node.value


@given(st.text(max_size=60) | st.text(alphabet="-:[]{}#&*!|>'\"%@` \n\tab1", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Never another exception; the line is one of the text's."""
    for read in (read_yaml, read_json):
        try:
            read(text)
        except Fault as fault:
            assert 1 <= fault.line <= len(text.splitlines()) + 2


@given(st.data())
def test_any_change_of_a_catalog_is_read_or_refused(data: st.DataObject) -> None:
    """Bytes deleted, inserted or changed anywhere: a catalog or a `CatalogError` with both sentences."""
    content = STOCK.encode()
    start = data.draw(st.integers(0, len(content)))
    end = data.draw(st.integers(start, min(len(content), start + 40)))
    changed = (
        content[:start]
        + data.draw(st.binary(max_size=6) | st.sampled_from([b"\n", b": ", b"- ", b"[", b"'"]))
        + content[end:]
    )
    try:
        compile_files([(Path("a.yaml"), changed)])
    except CatalogError as error:
        assert error.line is not None
        assert 1 <= error.line <= changed.count(b"\n") + changed.count(b"\r") + 2
        assert error.message("ja")
        assert error.message("en")
