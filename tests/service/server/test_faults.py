"""What is wrong with a body is said at its place, in the language that is asked for, and with what to write instead;
nothing that was sent comes back but the names of fields."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from pipeline.diagnostics.lang import Lang
from server.faults import MOST_FAULTS, Malformed, fields_of
from server.hooks.github import Push
from server.hooks.s3 import Records
from server.hooks.standard import CloudEvent, DeletedData, Event, SavedData
from server.mcp.app import TOOLS
from server.reading import read_json, read_model
from server.rest.documents import ListQuery, SaveQuery
from server.rest.history import DiffQuery, HistoryQuery
from server.rest.recompiles import Order, Page

from .mcp_client import CURRENT, PREVIOUS, post, rpc
from .running import Running, as_body, problem, saved_event, signed, signed_for_github

HOOK = "/v1/hooks/document-saved"
MODELS: list[type[BaseModel]] = [
    *(Event, CloudEvent, SavedData, DeletedData, Records, Push, Order, Page),
    *(SaveQuery, ListQuery, HistoryQuery, DiffQuery),
    *(tool.arguments for tool in TOOLS.values()),
]
MISPLACED = "swordfish"
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.sampled_from([MISPLACED, MISPLACED * 99, ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*(name for kind in MODELS for name in fields_of(kind)), "s3", "bucket", "key", "x"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=12,
)
JAPANESE = re.compile("[ぁ-んァ-ヶ一-龠]")
TOLD = (("ja", True), ("en", False))


def faults(running: Running, body: bytes, lang: Lang) -> list[dict[str, Any]]:
    answer = running.client.post(HOOK, content=body, headers={**signed(body), "accept-language": lang})
    status, code, details = problem(answer)
    assert (status, code, answer.headers["content-language"]) == (400, "invalid_input", lang)
    assert details["path"] == details["faults"][0]["path"]
    assert details["faults"][0]["message"] in answer.json()["message"]
    found: list[dict[str, Any]] = details["faults"]
    return found


def spoilt(**data: object) -> bytes:
    event = saved_event("a.md", 1)
    event["data"] |= data
    return as_body(event)


@pytest.mark.parametrize(
    ("body", "path", "expected", "ja", "en"),
    [
        (b"", "", "not JSON", "JSON", "no JSON"),
        (b'{"type":', "", "not JSON", "1 行目、8 バイト目", "line 1, byte 8"),
        (b'{"a":NaN}', "", "not JSON", "JSON", "no JSON"),
        (b"[" * 5_000, "", "too deep", "入れ子", "nested"),
        (b"1" * 5_000, "", "number too long", "桁", "digits"),
        (b"[]", "", "wrong type", "オブジェクト", "an object"),
        (b'{"type":"document.saved"}', "/data", "missing", "加えて", "add it"),
        (
            as_body({"type": MISPLACED, "data": {}}),
            "/type",
            "not one of the allowed values",
            "どれか",
            "choose one",
        ),
        (spoilt(conten="x"), "/data/conten", "unknown field", "content", "content"),
        (spoilt(**{"a/b~c": 1}), "/data/a~1b~0c", "unknown field", "取り除く", "remove it"),
        (spoilt(document_id=7), "/data/document_id", "wrong type", "文字列", "a string"),
        (spoilt(revision="x" * 201), "/data/revision", "too long", "200 文字", "200 characters"),
        (spoilt(revision=""), "/data/revision", "too short", "1 文字", "at least 1"),
        (spoilt(content=None), "/data", "not exactly one", "1 つだけ", "exactly one of content, object"),
    ],
)
def test_every_kind_of_fault(running: Running, body: bytes, path: str, expected: str, ja: str, en: str) -> None:
    """Its place, a word for programs, and a sentence that says what to do, which alone depends on the language."""
    japanese, english = (faults(running, body, lang) for lang in ("ja", "en"))
    for found, words, is_japanese in ((japanese, ja, True), (english, en, False)):
        assert (found[0]["path"], found[0]["problem"]) == (path, expected)
        assert words in found[0]["message"]
        assert bool(JAPANESE.search(found[0]["message"])) == is_japanese
        assert MISPLACED not in json.dumps(found)
    assert [one | {"message": ""} for one in japanese] == [one | {"message": ""} for one in english]


def test_bodies_that_are_not_utf8(running: Running) -> None:
    """The byte is named."""
    answer = running.as_token().post("/v1/hooks/s3", content=b'{"a":"\xff"}')
    message = "it is not UTF-8 (at byte 7): send it as UTF-8"
    assert problem(answer)[2]["faults"] == [{"path": "", "problem": "not UTF-8", "offset": 7, "message": message}]


@pytest.mark.parametrize(
    ("value", "path", "expected"),
    [
        ({"ref": "r", "after": "x" * 40}, "/after", "wrong form"),
        ({"repository": {"full_name": "a/b", "pushed_at": 1.5}}, "/repository/pushed_at", "wrong type"),
        ({"commits": [{"added": ["a"] * 20_001}]}, "/commits/0/added", "too many"),
        ({"commits": [{}, {"added": ["a", ""]}]}, "/commits/1/added/1", "too short"),
    ],
)
def test_what_others_send(running: Running, value: dict[str, Any], path: str, expected: str) -> None:
    """A place within lists; of what may be of several types, all of them."""
    body = as_body(value)
    answer = running.client.post("/v1/hooks/github", content=body, headers=signed_for_github(body))
    found = {fault["path"]: fault for fault in problem(answer)[2]["faults"]}
    assert found[path]["problem"] == expected
    assert expected != "wrong type" or found[path]["expected"] == "integer or string"


@pytest.mark.parametrize(
    ("order", "path", "expected"),
    [
        ({}, "", "not exactly one"),
        ({"scope": {"all": True, "using": "slack"}}, "/scope", "not exactly one"),
        ({"scope": {"all": False}}, "/scope/all", "not one of the allowed values"),
        ({"scope": {"ids": []}}, "/scope/ids", "too few"),
        ({"scope": {str(number): 1 for number in range(1_000)}}, "/scope/0", "unknown field"),
        ({"plan_token": "x"}, "/plan_token", "too short"),
    ],
)
def test_recompiles(running: Running, order: dict[str, Any], path: str, expected: str) -> None:
    """Scopes within orders."""
    for lang, is_japanese in TOLD:
        answer = running.as_token(**{"accept-language": lang}).post("/v1/recompiles", json=order)
        found = problem(answer)[2]["faults"]
        assert (found[0]["path"], found[0]["problem"]) == (path, expected)
        assert all(bool(JAPANESE.search(one["message"])) == is_japanese for one in found)
        assert len(found) <= MOST_FAULTS


def test_queries_headers_and_urls(running: Running) -> None:
    """Are named as what they are; a name or a value of any length does not come back."""
    client = running.as_token()
    asked: dict[str, dict[str, str | int]] = {
        "query.limit": {"limit": "x"},
        "query.limt": {"limt": 1},
        "query.state": {"state": MISPLACED},
        "query.after": {"after": MISPLACED * 100},
    }
    for path, query in asked.items():
        _, _, details = problem(client.get("/v1/documents", params=query))
        assert details["faults"][0]["path"] == path
        assert MISPLACED not in json.dumps(details)
    twice = client.get(f"/v1/documents?{'x' * 1_000}=1&{'x' * 1_000}=2")
    assert problem(twice)[2]["faults"][0]["problem"] == "more than once"
    assert len(twice.content) < 1_000
    key = client.put("/v1/documents/a.md", content="# x", headers={"idempotency-key": "k" * 300})
    assert problem(key)[2]["faults"][0] | {"message": ""} == {
        "path": "header.Idempotency-Key",
        "problem": "too long",
        "limit": 256,
        "message": "",
    }
    assert problem(client.get("/v1/documents/%ff"))[2]["faults"][0]["problem"] == "not UTF-8"


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS])
def test_arguments_of_tools(running: Running, version: str) -> None:
    """The same for a model: what it reads is in its language, and says what to send."""
    token = running.token()
    asked: list[tuple[str, dict[str, object], str, str]] = [
        ("check_aop", {}, "/text", "missing"),
        ("check_aop", {"text": 1}, "/text", "wrong type"),
        ("check_aop", {"text": "# x", "txt": MISPLACED}, "/txt", "unknown field"),
        ("compile_aop", {}, "", "none of them"),
        ("list_tools", {"limit": 0}, "/limit", "too small"),
        ("list_tools", {"limit": 101}, "/limit", "too large"),
        ("list_tools", {"query": MISPLACED * 100}, "/query", "too long"),
        ("get_procedure", {"document_id": "a", "file": MISPLACED}, "/file", "not one of the allowed values"),
        ("get_compile_status", {"job_id": (MISPLACED * 3)[:27]}, "/job_id", "wrong form"),
    ]
    for tool, arguments, path, expected in asked:
        for lang, is_japanese in TOLD:
            params = {"name": tool, "arguments": arguments}
            answer = rpc(running, "tools/call", params, token=token, version=version, headers={"accept-language": lang})
            error = answer.json()["result"]["structuredContent"]
            (fault,) = error["details"]["faults"]
            assert (error["code"], fault["path"], fault["problem"]) == ("invalid_input", path, expected)
            assert bool(JAPANESE.search(fault["message"])) == is_japanese
            assert MISPLACED not in answer.text


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS])
def test_requests_that_the_protocol_refuses(running: Running, version: str) -> None:
    """What is no message is answered as JSON-RPC wants it, with the same faults; nothing of it comes back."""
    token = running.token()
    for body in (
        b'{"password": "%s"' % MISPLACED.encode(),
        as_body({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": [MISPLACED]}}),
        as_body({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": MISPLACED}}),
        as_body({"jsonrpc": MISPLACED, "id": {}, "method": 1}),
    ):
        headers = {"accept": "application/json, text/event-stream", "authorization": f"Bearer {token}"}
        answer = post(running, body, **headers, mcp_protocol_version=version, mcp_method="tools/call")
        assert answer.json()["error"]["code"] in range(-32768, -31999), answer.text
        for word in (MISPLACED, "pydantic", "validation error", "input_value"):
            assert word not in answer.text
    japanese = post(running, b"[]", authorization=f"Bearer {token}", accept_language="ja").json()["error"]
    assert (japanese["code"], japanese["data"]["details"]["faults"][0]["problem"]) == (-32600, "wrong type")
    assert "オブジェクト" in japanese["message"]


@given(value=VALUES, kind=st.sampled_from(MODELS))
def test_nothing_is_only_malformed(value: object, kind: type[BaseModel]) -> None:
    """Whatever a model refuses has a word of its own, and sentences that hold none of the values."""
    try:
        read_model(kind, value)
    except Malformed as error:
        for lang, is_japanese in TOLD:
            body = error.body("ja" if is_japanese else "en")
            found: Any = body["details"]
            assert 1 <= len(found["faults"]) <= MOST_FAULTS
            for fault in found["faults"]:
                assert fault["problem"] != "malformed", (kind, value)
                assert bool(JAPANESE.search(fault["message"])) == is_japanese, lang
            assert MISPLACED not in json.dumps(body)


@given(data=st.binary(max_size=30) | st.text(max_size=20).map(str.encode))
def test_what_is_no_json_has_a_place(data: bytes) -> None:
    """Within what was sent, counted from 1; the end of it is a place as well."""
    try:
        read_json(data)
    except Malformed as error:
        (fault,) = error.faults
        if fault.problem == "not UTF-8":
            assert 1 <= int(str(fault.given["offset"])) <= len(data)
        else:
            assert 1 <= int(str(fault.given["line"])) <= data.count(b"\n") + 1
            assert 0 <= int(str(fault.given["column"])) <= len(data)
