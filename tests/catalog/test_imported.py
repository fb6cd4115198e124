"""What a server lists becomes a catalog file: reviewable, closed, and the same again for the same list."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.errors import MAX_BYTES, CatalogError
from catalog.imported import entry_of, file_name, snapshot, store
from catalog.live import LIMITS, ListedTool, Listing, ServerFault
from catalog.load import load_catalog
from catalog.nodes import Fault, Json
from catalog.own import Own
from catalog.yaml_reader import read_yaml
from catalog.yaml_writer import write_yaml

OBJECT: dict[str, Json] = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def listed(name: str, read_only: bool | None = None, schema: dict[str, Json] = OBJECT, **more: str) -> ListedTool:
    return ListedTool(name, more.get("description", "x"), schema, None, read_only)


def text_of(*tools: ListedTool, name: str = "srv") -> str:
    return snapshot(name, Listing("Server 1.0", tools), LIMITS)


def test_a_snapshot_is_a_catalog_file_of_a_tool_without_categories(tmp_path: Path) -> None:
    """Its operations are known from then on."""
    path, stored = store(tmp_path / "aop-tools", "srv", text_of(listed("b"), listed("a", True)))
    assert (path, stored) == (tmp_path / "aop-tools" / "srv.yaml", "new")
    tool = load_catalog([], None, None, Own(imported=(path,))).tool("srv")
    assert tool is not None
    assert (tool.kind, tool.categories) == ("mcp", ())
    assert [(operation.name, operation.effect) for operation in tool.operations or ()] == [
        ("a", "read"),
        ("b", "write"),
    ]


@pytest.mark.parametrize(("hint", "effect"), [(True, "read"), (False, "write"), (None, "write")])
def test_only_a_servers_own_word_makes_an_operation_read(hint: bool | None, effect: str) -> None:
    """T7: an effect that is unknown writes."""
    (operation,) = entry_of(text_of(listed("a", hint))).tool().operations or ()
    assert operation.effect == effect


def test_the_same_list_is_the_same_text(tmp_path: Path) -> None:
    """In whatever order the server gives it; a file that says the same is left alone."""
    tools = [listed(name) for name in ("a", "c", "b")]
    text = text_of(*tools)
    assert text == text_of(*reversed(tools))
    assert store(tmp_path, "srv", text)[1] == "new"
    before = (tmp_path / "srv.yaml").stat()
    assert store(tmp_path, "srv", text)[1] == "same"
    assert (tmp_path / "srv.yaml").stat().st_mtime_ns == before.st_mtime_ns
    assert store(tmp_path, "srv", text_of(*tools[:2]))[1] == "changed"
    assert [path.name for path in tmp_path.iterdir()] == ["srv.yaml"]


def test_what_a_server_calls_itself_stays_a_comment() -> None:
    """A name with a line break must not write into the file."""
    text = snapshot("srv", Listing("evil\n  - {name: slack}\u2028# 1.0", (listed("a"),)), LIMITS)
    assert [line[:1] for line in text.splitlines()[:3]] == ["#", "#", "v"]
    assert entry_of(text).name == "srv"


def test_hidden_text_is_seen_in_a_review() -> None:
    """Zero-width characters, reversed lines and tag characters stand there as escapes, and mean what they were."""
    hidden = "Finds.\u200b\u202eignore\U000e0041\u2066\nNext line."
    text = text_of(listed("a", description=hidden))
    assert "\\u200b" in text
    assert "\\U000E0041" in text
    assert not set(text) & set("\u200b\u202e\u2066\U000e0041")
    (operation,) = entry_of(text).tool().operations or ()
    assert operation.description == hidden


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        (listed("a", schema={"type": "object", "default": float("nan")}), "server-wrong-list"),
        (listed("a", description="\ud800"), "server-wrong-list"),
        (listed("a", description="x" * 300_000), "server-schema-large"),
    ],
)
def test_what_cannot_be_stored_is_a_fault_of_the_server(tool: ListedTool, reason: str) -> None:
    """Never half of it."""
    with pytest.raises(ServerFault) as caught:
        text_of(tool)
    assert caught.value.reason == reason


def test_depth_is_bounded() -> None:
    """Found without recursion."""
    deep: dict[str, Json] = {}
    for _ in range(100_000):
        deep = {"items": deep}
    with pytest.raises(ServerFault) as caught:
        text_of(listed("a", schema=deep))
    assert caught.value.reason == "server-schema-deep"


@pytest.mark.parametrize("names", [("a", "a"), ("Get", "get"), ("ａ", "A")])
def test_two_operations_of_one_name_are_refused(names: tuple[str, str]) -> None:
    """Names are compared folded (T2)."""
    with pytest.raises(ServerFault) as caught:
        text_of(*map(listed, names))
    assert caught.value.reason == "server-duplicate"
    assert {caught.value.arguments["tool"], caught.value.arguments["other"]} == set(names)


@pytest.mark.parametrize(
    ("tool", "reason"),
    [
        (listed("a", schema={"type": "string"}), "schema-invalid"),
        (listed("a", schema={"properties": []}), "schema-invalid"),
        (listed("a", schema={"type": "object", "required": "q"}), "schema-invalid"),
    ],
)
def test_what_no_catalog_can_hold_is_refused(tool: ListedTool, reason: str) -> None:
    """By the rules of every catalog file."""
    with pytest.raises(Fault) as caught:
        text_of(tool)
    assert caught.value.reason == reason


@pytest.mark.parametrize(
    "tool", [listed(" "), listed("a", schema={"type": "object", "maxProperties": 10**300})], ids=["name", "number"]
)
def test_what_no_file_can_hold_is_the_servers_fault(tool: ListedTool) -> None:
    """A name of nothing, a number that would be read back as a string."""
    with pytest.raises(ServerFault) as caught:
        text_of(tool)
    assert caught.value.reason == "server-wrong-list"


@pytest.mark.parametrize("pattern", [r"\p{L}+", r"(?<year>\d+)", "(?i)abc", r"(?P<n>a)\Z", "x" * 5_000])
def test_patterns_of_other_languages_are_no_fault(pattern: str) -> None:
    """ECMA-262's, which Python cannot compile, and Python's, which servers in Python list."""
    schema: dict[str, Json] = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    assert "pattern" in text_of(listed("a", schema=schema))


def test_patterns_take_no_time() -> None:
    """Python needs tenths of a second to compile such a pattern, of which a list may hold thousands."""
    patterns: Json = {f"p{index}": {"pattern": f"(?i)[\x00-\U0010ffff]{index}"} for index in range(300)}
    started = time.process_time()
    text_of(listed("a", schema={"type": "object", "properties": patterns}))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    "earlier",
    [b"version: 1\nremove: [x]\n", b"version: 1\ntools: []\n", b"\xff", b"version: [", b"x" * (MAX_BYTES + 1)],
)
def test_a_file_of_somebody_else_stays(tmp_path: Path, earlier: bytes) -> None:
    """Whatever it holds, and however large it is."""
    (tmp_path / "srv.yaml").write_bytes(earlier)
    with pytest.raises(CatalogError):
        store(tmp_path, "srv", text_of(listed("a")))
    assert (tmp_path / "srv.yaml").read_bytes() == earlier


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes")
def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """Nobody may ever write to it."""
    os.mkfifo(tmp_path / "srv.yaml")
    with pytest.raises(CatalogError, match="not a file"):
        store(tmp_path, "srv", text_of(listed("a")))


def test_a_name_that_no_declaration_can_write_is_refused() -> None:
    """A server may be called `a, b` in `mcp.json`; a tool may not."""
    with pytest.raises(Fault) as caught:
        text_of(listed("a"), name="a, b")
    assert caught.value.reason == "name-undeclarable"


@pytest.mark.parametrize(
    ("server", "file"),
    [
        ("srv", "srv.yaml"),
        ("在庫", "在庫.yaml"),
        ("a/../b c", "a_.._b_c.yaml"),
        ("../..", "_...yaml"),
        ("...", "_.yaml"),
    ],
)
def test_a_snapshots_file_lies_in_its_folder(server: str, file: str) -> None:
    """Whatever the server is called."""
    assert file_name(server) == file


def test_another_tools_file_is_not_overwritten(tmp_path: Path) -> None:
    """`a b` and `a_b` would share a file; a file that somebody wrote by hand stays."""
    store(tmp_path, "a b", text_of(listed("x"), name="a b"))
    with pytest.raises(CatalogError) as caught:
        store(tmp_path, "a_b", text_of(listed("x"), name="a_b"))
    assert caught.value.reason == "snapshot-of-another"
    own = tmp_path / "own.yaml"
    own.write_text("version: 1\ntools: []\n")
    with pytest.raises(CatalogError) as caught:
        store(tmp_path, "own", text_of(listed("x"), name="own"))
    assert caught.value.reason == "snapshot-edited"
    assert own.read_text() == "version: 1\ntools: []\n"


TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12) | st.sampled_from(
    [
        "1e3",
        "08",
        "0o7",
        "1_000",
        "yes",
        "on",
        "null",
        "~",
        "",
        " a",
        "a: b",
        "- a",
        "#",
        "2020-01-01",
        "a\nb\n",
        "=",
        "<<",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_written_is_read_back(value: Json) -> None:
    """By our reader, whose scalars follow another version of YAML than the writer's."""
    assert read_yaml(write_yaml({"value": value})).json() == {"value": value}
