"""Where arguments go in a request: no value reaches a place that is not its own."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.manifest import Contract
from aop_runtime.plane.envelope import ToolFailure
from aop_runtime.sources.http_request import Route, base_of, route_of
from aop_runtime.sources.protocol import SourceFault

SCHEMA = {"type": "object", "properties": {"a": {}, "b": {}, "c": {}, "X-H": {}}}


def route(method: str = "GET", path: str = "/v1/{a}/x", **mapping: list[str]) -> Route:
    return route_of("api.op", Contract.model_validate({"method": method, "path": path, "mapping": mapping}), SCHEMA)  # type: ignore[arg-type]


@given(st.text(min_size=1, max_size=40), st.text(max_size=40))
def test_any_text_stays_in_its_segment_and_in_its_parameter(segment: str, parameter: str) -> None:
    """And arrives as it was."""
    try:
        segment.encode(), parameter.encode()
    except UnicodeEncodeError:
        return
    try:
        target = route().filled({"a": segment, "b": parameter}).target
    except ToolFailure as failure:
        assert failure.code == "invalid_input"
        assert segment in (".", "..")
        return
    assert target.isascii()
    assert target.isprintable()
    parts = urlsplit(f"https://api.example{target}")
    assert parts.netloc == "api.example"
    assert [unquote(one) for one in parts.path.split("/")] == ["", "v1", segment, "x"]
    assert parse_qs(parts.query, keep_blank_values=True) == {"b": [parameter]}
    assert not parts.fragment


def test_values_are_written_as_json_writes_them() -> None:
    """Lists as repeated parameters, null not at all."""
    filled = route().filled({"a": 7, "b": [1, "x", True, None], "c": None})
    assert (filled.target, filled.body) == ("/v1/7/x?b=1&b=x&b=true", None)
    posted = route("POST", query=["b"]).filled({"a": 7, "b": {"k": 1}, "c": None})
    assert (posted.target, posted.body) == ("/v1/7/x?b=%7B%22k%22%3A1%7D", b'{"c": null}')


@pytest.mark.parametrize("value", ["a\r\nHost: evil", "日本", " a", "a\0", ["x"], {"y": 1}])
def test_a_header_holds_one_printable_line(value: object) -> None:
    """Anything else is refused before it is sent."""
    with pytest.raises(ToolFailure, match="X-H must be"):
        route(header=["X-H"]).filled({"a": 1, "X-H": value})  # type: ignore[dict-item]
    assert route(header=["X-H"]).filled({"a": 1, "X-H": "ok"}).headers == {"X-H": "ok"}


@pytest.mark.parametrize(
    "contract",
    [
        {"method": None, "path": "/x"},
        {"method": "CONNECT", "path": "/x"},
        {"method": "GET", "path": None},
        {"method": "GET", "path": "x"},
        {"method": "GET", "path": "/x?y=1"},
        {"method": "GET", "path": "/{unknown}"},
        {"method": "GET", "path": "/x", "mapping": {"header": ["Authorization"]}},
        {"method": "GET", "path": "/x", "mapping": {"header": ["cookie"]}},
        {"method": "GET", "path": "/x", "mapping": {"header": ["a: b"]}},
        {"method": "GET", "path": "/x", "mapping": {"query": "a"}},
    ],
)
def test_a_contract_that_gives_no_safe_request(contract: dict[str, object]) -> None:
    """A fault before the phase begins."""
    with pytest.raises(SourceFault, match=r"^api\.op: "):
        route_of("api.op", Contract.model_validate(contract), SCHEMA)  # type: ignore[arg-type]


def test_missing_and_overlong_arguments_of_a_path() -> None:
    """Refused; the place is named."""
    for arguments in ({}, {"a": None}, {"a": [1]}, {"a": "x" * 20_000}):
        with pytest.raises(ToolFailure, match=r"api\.op"):
            route().filled(arguments)  # type: ignore[arg-type]


def test_an_apis_base_keeps_its_path() -> None:
    """And loses a slash at its end."""
    assert base_of("a", "https://API.example:8443/base/") == "https://api.example:8443/base"
    assert base_of("a", "http://[::1]:80") == "http://[::1]:80"
    assert base_of("a", "http://127.0.0.1:9/x") == "http://127.0.0.1:9/x"
