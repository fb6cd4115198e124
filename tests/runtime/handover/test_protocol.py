"""What a script may say to us, and what it gets back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.declarations import Json
from aop_runtime.handover.protocol import Malformed, answer, request
from aop_runtime.plane.envelope import CallError, Envelope

_TEXTS = st.text(st.characters(codec="utf-8"), max_size=8)
_NUMBERS = st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)
_JSON = st.recursive(
    st.none() | st.booleans() | _NUMBERS | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=10,
)


def _line(**changed: object) -> bytes:
    call: dict[str, object] = {"id": 1, "tool": "exa", "operation": "search", "arguments": {}}
    return json.dumps(call | changed).encode()


@given(arguments=st.dictionaries(_TEXTS, _JSON, max_size=3))
def test_a_call_is_what_it_says(arguments: dict[str, Json]) -> None:
    """Any JSON is an argument."""
    found = request(_line(arguments=arguments))
    assert (found.tool, found.operation, found.arguments) == ("exa", "search", arguments)


@pytest.mark.parametrize(
    "line",
    [b"", b"\0", b"[]", b"null", b"{}", b"\xff", b"{" * 100_000, b'{"id":' * 100_000, _line(id="1"), _line(id=-1),
     _line(id=1.5), _line(id=2**60), _line(id=True), _line(tool=1), _line(tool="x" * 300), _line(operation=None),
     _line(arguments=[]), _line(arguments=None), _line(arguments="{}"), _line(run="rm"),
     _line(arguments={"a": float("nan")}), _line(arguments={"a": float("inf")}), _line(arguments={"a": "\ud800"}),
     _line() + b" {}",
     b'{"id":1,"tool":"a","operation":"b","arguments":{"a":' + b"[" * 65 + b"]" * 65 + b"}}",
     b'{"id":1,"tool":"a","operation":"b","arguments":' + b'{"a":' * 5000 + b"1" + b"}" * 5001],
)  # fmt: skip
def test_anything_else_is_malformed(line: bytes) -> None:
    """No form of it is repaired, and none does harm."""
    with pytest.raises(Malformed) as found:
        request(line)
    assert len(str(found.value)) < 500


@given(line=st.binary(max_size=60))
def test_no_bytes_are_more_than_malformed(line: bytes) -> None:
    """Whatever comes over the socket."""
    with pytest.raises(Malformed):
        request(line)


@given(structured=_JSON, content=st.text(max_size=20))
def test_an_answer_is_one_line_of_ascii(structured: Json, content: str) -> None:
    """The structured result, or else the text; also where that holds half a character."""
    line = answer(7, Envelope(content=content, structured=structured))
    assert line.isascii()
    assert line.index(b"\n") == len(line) - 1
    assert json.loads(line) == {"id": 7, "ok": True, "result": content if structured is None else structured}


def test_a_failure_is_told_with_code_and_details() -> None:
    """So that a script can do something about it."""
    error = CallError(code="rate_limited", message="later", details={"retry_after_s": 3})
    assert json.loads(answer(1, Envelope(content="", error=error))) == {
        "id": 1, "ok": False, "error": {"code": "rate_limited", "message": "later", "details": {"retry_after_s": 3}},
    }  # fmt: skip
