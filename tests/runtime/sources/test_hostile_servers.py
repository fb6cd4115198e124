"""Servers that mean harm: they cost us bounded time and memory, and a call of theirs ends in a structured failure."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from aop_runtime.declarations import Http, Mcp
from aop_runtime.manifest import Contract, Manifest, OperationPin, ToolPin
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.names import named
from aop_runtime.plane.validation import ArgumentValidator, UnusableSchema
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.failures import retry_after
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.misfit import misfit
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.servers import ServerEntry
from tests.runtime.sources.given import QUICK, call, failure, run

PROGRAM = Path(__file__).parents[1] / "servers" / "hostile_process.py"
ALL = Mcp("hostile", read_only=False, operations=None)
COUNTED = replace(QUICK, messages=2_000, requests=100)


@contextmanager
def listening(mode: str) -> Iterator[int]:
    process = subprocess.Popen([sys.executable, str(PROGRAM), "http", mode], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def hostile(transport: str, mode: str, *more: str, limits: Limits = COUNTED) -> Iterator[Connectors]:
    """An MCP server of unknown operations."""
    if transport == "stdio":
        entry = ServerEntry(command=sys.executable, args=(str(PROGRAM), "stdio", mode, *more))
        yield Connectors(Manifest({}, {}), {"hostile": entry}, os.environ, limits)
        return
    with listening(mode) as port:
        entry = ServerEntry(type="http", url=f"http://127.0.0.1:{port}/mcp")
        yield Connectors(Manifest({}, {}), {"hostile": entry}, os.environ, limits)


@pytest.mark.parametrize(
    # Over HTTP an answer is that to its request, whatever id it bears.
    ("transport", "mode"),
    [("stdio", "pings"), ("stdio", "answers"), ("stdio", "notes"), ("http", "pings"), ("http", "notes")],
)
def test_a_flood_of_small_messages_ends_the_connection(transport: str, mode: str) -> None:
    """Requests that want a reply, answers to nothing, notifications: long before the call's time-out of a minute."""

    async def check() -> None:
        with hostile(transport, mode) as source:
            (tool,) = await source.tools(ALL)
            failed = await failure(tool)
            assert (failed.code, failed.unknown_outcome) == ("dependency_failure", True)
            assert str(COUNTED.requests if mode == "pings" else COUNTED.messages) in failed.message
            await source.aclose()

    run(check())


def test_a_list_that_is_too_large_is_not_asked_for_to_its_end() -> None:
    """A hundred pages of eight megabytes each would be gigabytes, before anybody looked at them."""

    async def check() -> None:
        limits = replace(QUICK, operation_bytes=1_000_000, listed_bytes=450_000)
        with hostile("stdio", "pages", limits=limits) as source:
            with pytest.raises(SourceFault) as raised:
                await source.tools(ALL)
            # The first two pages of 200,000 bytes fit.
            assert "op2" in str(raised.value)
            await source.aclose()

    run(check())


def test_an_operation_that_has_the_name_which_another_one_gets() -> None:
    """Names on the wire can be computed by anybody; each still names one operation."""
    digest = sha256(b"hostile\0a b\0a b\0False").hexdigest()[:8]

    async def check() -> None:
        with hostile("stdio", "names", f"a b|hostile__a_b_{digest}|op") as source:
            tools = named(await source.tools(ALL))
            names = [tool.spec.name for tool in tools]
            assert len(set(names)) == 3
            assert names[1] == f"hostile__a_b_{digest}"
            await source.aclose()

    run(check())


NOWHERE = [
    {"properties": {"a": {"$ref": "#/required/0"}}, "required": ["a"]},
    {"properties": {"a": {"$ref": "#/required/x"}}, "required": ["a"]},
    {"properties": {"a": {"$ref": "#/type/x"}}, "type": "object"},
    {"properties": {"a": {"$ref": "#/description"}}, "description": "x"},
    {"properties": {"a": {"$ref": "#/examples/0"}}, "examples": [5]},
    *(
        {"properties": {"a": {"$ref": "#/x"}}, "x": wrong}
        for wrong in (
            {"type": 5},
            {"minLength": "q"},
            {"properties": 5},
            {"multipleOf": 0},
            {"pattern": 7},
            {"required": 5},
            {"enum": 5},
        )
    ),
    {"properties": {"a": {"$ref": "http://[x"}}},
]


@pytest.mark.parametrize("schema", NOWHERE, ids=json.dumps)
def test_a_schema_that_leads_to_what_is_no_schema(schema: dict[str, object]) -> None:
    """No check of the schema sees it; judging by it ends in a fault that is said, not in a crash."""
    validator = ArgumentValidator(schema)  # type: ignore[arg-type] # JSON
    wrong = 0
    for value in ("text", 1, {"b": 1}, [1]):
        try:
            validator.faults({"a": value})  # type: ignore[dict-item] # JSON
        except UnusableSchema:
            wrong += 1
            assert misfit({"a": value}, schema) is not None  # type: ignore[dict-item, arg-type] # JSON
    assert wrong


def test_a_server_with_such_a_schema_ends_no_run() -> None:
    """Its operation cannot be called; it says why."""

    async def check() -> None:
        with hostile("stdio", "schema", json.dumps({"type": "object", **NOWHERE[0]})) as source:
            (tool,) = await source.tools(ALL)
            with pytest.raises(UnusableSchema):
                ArgumentValidator(tool.spec.input_schema).faults({"a": "x"})
            await source.aclose()

    run(check())


async def answer_of(mode: str) -> Output:
    """Of an API's one operation. Raises ToolFailure."""
    with listening(mode) as port:
        contract = Contract(method="GET", path="/op")
        pin = OperationPin(
            tool="api", operation="op", effect="read", description="", input_schema={}, contract=contract
        )
        server = ToolPin.model_validate({"tool": "api", "kind": "http", "server": {"url": f"http://127.0.0.1:{port}"}})
        source = Connectors(Manifest({("api", "op"): pin}, {"api": server}), {}, os.environ)
        try:
            (tool,) = await source.tools(Http("api", read_only=True, operations=("op",)))
            return await call(tool)
        finally:
            await source.aclose()


@pytest.mark.parametrize(
    "charset", ["punycode", "idna", "bz2", "zlib", "hex", "rot13", "undefined", "unicode_escape", "utf-7"]
)
def test_an_encoding_that_is_none_of_texts(charset: str) -> None:
    """Python knows it by name; it would unpack, fail, or take minutes in which nothing else goes on."""
    start = time.process_time()
    output = asyncio.run(answer_of(f"charset-{charset}"))
    assert output.content == "a" * 2_000_000 + "-" + "z" * 2_000_000
    assert time.process_time() - start < 60


@pytest.mark.parametrize("levels", [198, 300, 900])
def test_an_answer_that_is_nested_deeply(levels: int) -> None:
    """It comes back, or is said to be none."""
    output = asyncio.run(answer_of(f"deep-{levels}"))
    assert output.content.count("[") == levels


@pytest.mark.parametrize(
    "header",
    ["Mon, 01 Jan 2024 00:00:00 +99999999999999999", "Mon, 01 Jan 99999999999 00:00:00 GMT", "١", "x" * 99_999],
)
def test_a_time_that_there_is_not(header: str) -> None:
    """Is none, and the failure keeps its code."""
    assert retry_after(header) == {}


def test_a_busy_server_that_names_no_time() -> None:
    with pytest.raises(ToolFailure) as raised:
        asyncio.run(answer_of("retry"))
    assert raised.value.code == "rate_limited"
