"""The lock file: deterministic, strict, and a review's companion."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.drift import KINDS, Drift, Facts, Kind, digest
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.load import load_catalog
from catalog.lock import DEFAULT_POLICY, POLICIES, Lock, Policy, lock_of, locked_tool, read_lock
from catalog.lock_file import store_lock, write_lock
from catalog.lock_messages import LOCK_MESSAGES
from catalog.locking import accept, renew, tool_drifts
from catalog.model import Operation, Tool

PATH = Path("aop.lock")


def facts(name: str, schema: str = '{"properties":{"a":{"type":"string"}},"type":"object"}') -> Facts:
    return Facts(name, "notify", "write", digest(name), schema)


SLACK = locked_tool("slack", ["post", "list"], [facts("post")], DEFAULT_POLICY)
LOCK = Lock(("docs", "a.md"), DEFAULT_POLICY, (locked_tool("crm", None, [], DEFAULT_POLICY), SLACK))


def test_a_lock_is_read_back_as_it_was_written() -> None:
    """Byte for byte the same text again."""
    text = write_lock(LOCK)
    again = lock_of(PATH, text.encode())
    assert again == LOCK
    assert again.digest == LOCK.digest
    assert write_lock(again) == text


def test_an_argument_has_a_line_of_its_own() -> None:
    """So that a diff shows which argument of which operation changed."""
    lines = write_lock(LOCK).splitlines()
    assert '              "a": {"type": "string"}' in lines
    assert '      "listed": ["list", "post"],' in lines
    assert '  "documents": ["docs", "a.md"],' in lines


NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=8)


ENTRIES = st.tuples(st.none() | st.lists(NAMES, max_size=3), st.lists(NAMES, max_size=3, unique=True))


TOOLS = st.dictionaries(NAMES, ENTRIES).filter(lambda tools: len(set(map(fold, tools))) == len(tools))


@given(st.lists(NAMES, max_size=3), TOOLS, st.sampled_from(POLICIES))
def test_any_lock_is_read_back(
    documents: list[str], tools: dict[str, tuple[list[str] | None, list[str]]], policy: Policy
) -> None:
    """Whatever the names."""
    chosen: dict[Kind, Policy] = {**DEFAULT_POLICY, "schema-breaking": policy}
    made = [
        locked_tool(name, listed, [facts(operation, "") for operation in operations], chosen)
        for name, (listed, operations) in tools.items()
    ]
    lock = Lock(tuple(documents), chosen, tuple(sorted(made, key=lambda tool: tool.name)))
    assert lock_of(PATH, write_lock(lock).encode()) == lock


def test_a_catalog_is_sent_to_another_process_with_its_lock() -> None:
    """As a large compile does."""
    catalog = load_catalog([]).with_lock(lock_of(PATH, write_lock(LOCK).encode()))
    sent = pickle.loads(pickle.dumps(catalog))  # noqa: S301 — our own
    assert sent.digest == catalog.digest != load_catalog([]).digest
    assert sent.locked("ＳＬＡＣＫ") == SLACK
    assert sent.locked("other") is None


def test_no_lock_is_none(tmp_path: Path) -> None:
    """Then nothing is checked."""
    assert read_lock(tmp_path / "aop.lock") is None


def test_a_lock_is_stored_whole_and_only_when_it_changed(tmp_path: Path) -> None:
    """Through a file that takes its place."""
    path = tmp_path / "aop.lock"
    assert store_lock(path, LOCK, None)
    assert not store_lock(path, LOCK, LOCK)
    assert read_lock(path) == LOCK
    assert [entry.name for entry in tmp_path.iterdir()] == ["aop.lock"]


def test_what_another_accepted_meanwhile_is_not_lost(tmp_path: Path) -> None:
    """Two commands at once: the second to write says so, and writes nothing."""
    path = tmp_path / "aop.lock"
    first, second = Lock(("a.md",), DEFAULT_POLICY, ()), Lock(("b.md",), DEFAULT_POLICY, ())
    store_lock(path, LOCK, None)
    store_lock(path, first, LOCK)
    for before in (LOCK, None):
        with pytest.raises(CatalogError) as caught:
            store_lock(path, second, before)
        assert caught.value.reason == "lock-changed"
    assert read_lock(path) == first


def test_a_policy_may_leave_kinds_out() -> None:
    """Those have the default's."""
    text = json.loads(write_lock(LOCK))
    text["policy"] = {"effect-writes": "block"}
    policy = lock_of(PATH, json.dumps(text).encode()).policy
    assert policy == {**DEFAULT_POLICY, "effect-writes": "block"}
    assert set(policy) == set(KINDS)


TEXT = write_lock(LOCK)

FAULTS: tuple[tuple[str, str, str, str], ...] = (
    ('"version": 1', '"version": 2', "lock-version", '"version"'),
    ('"version": 1', '"version": true', "lock-version", '"version"'),
    ('  "version": 1,\n', "", "key-missing", "{"),
    ('"tools"', '"toolz"', "key-unknown", '"toolz"'),
    ('"effect-writes": "approve"', '"effect-writes": "ignore"', "value-wrong", '"effect-writes"'),
    ('"effect-writes"', '"effect-wrotes"', "key-unknown", '"effect-wrotes"'),
    ('"listed": null', '"listed": "x"', "type-wrong", '"listed": "x"'),
    ('"effect": "write"', '"effect": "writes"', "value-wrong", '"effect"'),
    ('"category": "notify"', '"category": 1', "type-wrong", '"category"'),
    ('"a": {"type": "string"}', '"a": {"type": "number"}', "lock-digest", '"schema_sha256"'),
    ('"documents": ["docs", "a.md"]', '"documents": ["docs", 1]', "type-wrong", '"documents"'),
    ('"slack": {', '"ＣＲＭ": {', "lock-twice", '"ＣＲＭ": {'),
    ('"category": "notify"', '"category": "\\ud800"', "json-syntax", '"category"'),
    ('"description_sha256": "', '"description_sha256": "\\"x', "value-wrong", '"description_sha256"'),
    ('"a": {"type": "string"}', '"a": ' + "[" * 70 + "]" * 70, "too-deep", '"a": [['),
    ('"slack": {', '"crm": {', "key-duplicate", '"crm": {\n      "listed": ["list"'),
    ('"version": 1,', '"version": 1,,', "json-syntax", '"version"'),
    ('"version": 1,', "<<<<<<< ours", "json-syntax", "<<<"),
)


@pytest.mark.parametrize(("old", "new", "reason", "place"), FAULTS)
def test_a_fault_is_shown_at_its_line(old: str, new: str, reason: str, place: str) -> None:
    """As in every file of the catalog; a left-over merge conflict, too."""
    assert old in TEXT
    faulty = TEXT.replace(old, new, 1)
    with pytest.raises(CatalogError) as caught:
        lock_of(PATH, faulty.encode())
    assert caught.value.reason == reason
    assert caught.value.line == faulty[: faulty.index(place)].count("\n") + 1
    assert caught.value.message("ja") != caught.value.message("en")


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"NaN", b'{"version": NaN}', b"[]", b"1"])
def test_anything_else_is_refused(content: bytes) -> None:
    """Within bounds."""
    with pytest.raises(CatalogError):
        lock_of(PATH, content)


def test_every_message_is_brought_up_here() -> None:
    """No message for nothing."""
    elsewhere = {"lock-changed"}
    assert {reason for _, _, reason, _ in FAULTS} | elsewhere >= set(LOCK_MESSAGES)


def test_escaped_characters_are_characters() -> None:
    """Only half of a pair is none."""
    text = write_lock(LOCK).replace('"category": "notify"', '"category": "\\ud83d\\ude00"')
    (category,) = {
        facts.category for tool in lock_of(PATH, text.encode()).tools for facts in tool.operations if facts.category
    }
    assert category == "😀"


# ----------------------------------------------------------------------------------- making it, accepting into it


def tool(name: str, *operations: Operation) -> Tool:
    return Tool(name, "mcp", name, (), (), operations, (), (), digest=f"{name}{operations}")


def operation(name: str, effect: str = "read", description: str = "", schema: str = "") -> Operation:
    return Operation(name, None, "write" if effect == "write" else "read", description, schema, None)


def lock_for(crm: Tool, *used: str, lock: Lock | None = None, touched: tuple[Drift, ...] = ()) -> Lock:
    return renew(lock, ("a.md",), {"crm": set(used)}, {"crm": crm}.get, touched)


BEFORE = tool("crm", operation("find"), operation("list"), operation("save", "write"))


def test_what_is_used_is_pinned() -> None:
    """And the names of all that there was, so that what is new can be told."""
    (crm,) = lock_for(BEFORE, "find", "save").tools
    assert crm.listed == ("find", "list", "save")
    assert [(facts.name, facts.effect) for facts in crm.operations] == [("find", "read"), ("save", "write")]


def test_locking_again_pins_what_is_newly_used_and_drops_what_is_not() -> None:
    """The documents changed, not the tool."""
    first = lock_for(BEFORE, "find", "save")
    (crm,) = lock_for(BEFORE, "find", "list", lock=first).tools
    assert [facts.name for facts in crm.operations] == ["find", "list"]


def test_locking_again_accepts_nothing() -> None:
    """What drifted stays as it was pinned: accepting is a decision of its own."""
    first = lock_for(BEFORE, "find", "save")
    after = tool("crm", operation("find", "write"), operation("list"), operation("save", "write"), operation("new"))
    drifts = tool_drifts(first.tools[0], after, ())
    assert [(drift.operation, drift.kind) for drift in drifts] == [
        ("find", "effect-writes"),
        ("new", "operation-added"),
    ]
    again = lock_for(after, "find", "save", "new", lock=first, touched=drifts)
    assert again.tools == first.tools


def test_an_added_operation_that_nobody_uses_is_taken_note_of() -> None:
    """It has not drifted, and is not new any more when somebody uses it."""
    first = lock_for(BEFORE, "find")
    after = tool("crm", *(BEFORE.operations or ()), operation("new"))
    again = lock_for(after, "find", lock=first)
    assert again.tools[0].listed == ("find", "list", "new", "save")
    used = lock_for(after, "find", "new", lock=again)
    assert [facts.name for facts in used.tools[0].operations] == ["find", "new"]


def test_accepting_takes_over_what_is_now() -> None:
    """Operation by operation; the rest stays pinned."""
    lock = lock_for(BEFORE, "find", "list", "save")
    after = tool("crm", operation("find", "write"), operation("lists"), operation("save", "write", "words"))
    drifts = tool_drifts(lock.tools[0], after, ())
    assert {(drift.operation, drift.kind) for drift in drifts} == {
        ("find", "effect-writes"),
        ("list", "operation-renamed"),
        ("save", "description-changed"),
    }
    some = accept(lock, [drift for drift in drifts if drift.operation != "save"], {"crm": after}.get)
    assert [drift.operation for drift in tool_drifts(some.lock.tools[0], after, ())] == ["save"]
    done = accept(lock, drifts, {"crm": after}.get)
    assert tool_drifts(done.lock.tools[0], after, ()) == ()
    assert done.lock.tools[0].listed == ("find", "lists", "save")
    assert not done.blocked


def test_what_the_policy_blocks_cannot_be_accepted() -> None:
    """An operation with one blocked change stays as it was pinned, whatever else changed."""
    lock = lock_for(BEFORE, "find", "save")
    policy = {**DEFAULT_POLICY, "effect-writes": "block"}
    lock = Lock(lock.documents, policy, tuple(locked_tool("crm", t.listed, t.operations, policy) for t in lock.tools))
    after = tool("crm", operation("find", "write", "words"), operation("list"), operation("save", "write", "words"))
    done = accept(lock, tool_drifts(lock.tools[0], after, ()), {"crm": after}.get)
    assert {drift.kind for drift in done.blocked} == {"effect-writes", "description-changed"}
    assert [(drift.operation, drift.kind) for drift in done.accepted] == [("save", "description-changed")]
    left = tool_drifts(done.lock.tools[0], after, ())
    assert {drift.operation for drift in left} == {"find"}


def test_a_tool_that_is_gone_or_renamed() -> None:
    """By its name and its operations' names; accepted, its entry goes."""
    lock = lock_for(BEFORE, "find")
    others = [tool("chat", operation("post")), tool("crm2", *(BEFORE.operations or ()))]
    (renamed,) = tool_drifts(lock.tools[0], None, others)
    assert (renamed.kind, renamed.now) == ("tool-renamed", "crm2")
    (gone,) = tool_drifts(lock.tools[0], None, others[:1])
    assert gone.kind == "tool-removed"
    kept = renew(lock, ("a.md",), {}, {}.get, [gone])
    assert kept.tools == lock.tools
    assert accept(lock, [gone], {}.get).lock.tools == ()


def test_operations_that_become_known_are_pinned() -> None:
    """T11: a server that was added first and imported later."""
    unknown = Tool("crm", "mcp", "crm", (), (), None, (), (), "d")
    first = lock_for(unknown)
    assert first.tools[0].listed is None
    assert tool_drifts(first.tools[0], BEFORE, ()) == ()
    (crm,) = lock_for(BEFORE, "find", lock=first).tools
    assert crm.listed == ("find", "list", "save")
    (drift,) = tool_drifts(crm, unknown, ())
    assert drift.kind == "operations-unknown"
    assert lock_for(unknown, lock=lock_for(BEFORE, "find"), touched=(drift,)).tools == (crm,)
    assert accept(lock_for(BEFORE, "find"), [drift], {"crm": unknown}.get).lock.tools[0].listed is None
