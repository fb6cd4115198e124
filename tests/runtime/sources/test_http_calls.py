"""Operations of HTTP APIs as tools, against a real server: what is sent, what comes back, how it fails."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from aop_runtime.declarations import Handover, Http
from aop_runtime.manifest import Contract, OperationPin, read_manifest
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.protocol import SourceFault
from cli.main import main
from tests.runtime.servers.catalog_server import CatalogApi
from tests.runtime.sources.given import QUICK, call, failure, manifest, named, run

DEAL = {"company_id": 1, "issue_date": "2026-10-31", "type": "income", "details": []}
READ = Http("freee", categories=("deals",), read_only=True, operations=("get_deals", "get_deal"))
WRITE = Http("freee", read_only=False, operations=("create_deal", "update_deal", "destroy_deal"))


@pytest.fixture(scope="module")
def freee() -> Iterator[CatalogApi]:
    with CatalogApi("freee") as api:
        yield api


@pytest.fixture(autouse=True)
def well_behaved(freee: CatalogApi) -> Iterator[None]:
    freee.behave()
    freee.forget()
    yield
    freee.behave()


def connectors(freee: CatalogApi, *extra: OperationPin, limits: object = None, url: str | None = None) -> Connectors:
    written = manifest(["freee"], *extra, urls={"freee": url or freee.url})
    chosen = replace(QUICK) if limits is None else limits
    return Connectors(written, {}, {"FREEE_ACCESS_TOKEN": freee.token}, chosen)  # type: ignore[arg-type]


def test_a_read_goes_out_by_path_and_query(freee: CatalogApi) -> None:
    """Arguments of the path are in it, the others in the query; the credential is a header."""

    async def check() -> None:
        source = connectors(freee)
        tools = await source.tools(READ)
        assert [tool.spec.address for tool in tools] == ["freee.get_deals", "freee.get_deal"]
        output = await call(named(tools, "get_deals"), {"company_id": 1, "type": "income", "limit": 20})
        assert output.structured["meta"] == {"total_count": 2}  # type: ignore[index, call-overload]
        await call(named(tools, "get_deal"), {"id": 101, "company_id": 1})
        first, second = freee.calls
        assert (first.more["method"], first.more["path"], first.more["body"]) == ("GET", "/api/1/deals", None)
        assert first.more["query"] == {"company_id": ["1"], "limit": ["20"], "type": ["income"]}
        assert (second.more["path"], second.more["query"]) == ("/api/1/deals/101", {"company_id": ["1"]})
        assert first.more["headers"]["authorization"] == f"Bearer {freee.token}"  # type: ignore[index]
        await source.aclose()

    run(check())


def test_a_write_goes_out_by_path_and_body(freee: CatalogApi) -> None:
    """JSON as it is; a DELETE has its arguments in the query."""

    async def check() -> None:
        source = connectors(freee)
        tools = await source.tools(WRITE)
        assert (await call(named(tools, "create_deal"), DEAL)).structured == {"ok": True, "operation": "create_deal"}
        await call(named(tools, "update_deal"), {**DEAL, "id": 7})
        await call(named(tools, "destroy_deal"), {"id": 7, "company_id": 1})
        created, updated, destroyed = freee.calls
        assert (created.more["method"], created.more["path"], created.more["body"]) == ("POST", "/api/1/deals", DEAL)
        assert (updated.more["method"], updated.more["path"], updated.more["body"]) == ("PUT", "/api/1/deals/7", DEAL)
        assert (destroyed.more["method"], destroyed.more["query"]) == ("DELETE", {"company_id": ["1"]})
        await source.aclose()

    run(check())


def test_a_mapping_places_arguments(freee: CatalogApi) -> None:
    """The key against doing twice as a header, one argument of a POST in the query, the rest in the body."""
    pin = OperationPin(
        tool="freee",
        operation="create_deal",
        effect="write",
        description="",
        input_schema={
            "type": "object",
            "properties": {
                "Idempotency-Key": {"type": "string"},
                "dry": {"type": "boolean"},
                "note": {"type": "string"},
            },
            "required": ["Idempotency-Key", "note"],
        },
        contract=Contract(
            method="POST",
            path="/api/1/deals",
            mapping={"header": ["Idempotency-Key"], "query": ["dry"]},
            idempotency_argument="Idempotency-Key",
        ),
    )

    async def check() -> None:
        source = connectors(freee, pin)
        (tool,) = await source.tools(Http("freee", read_only=False, operations=("create_deal",)))
        assert tool.spec.input_schema["required"] == ["note"]
        await call(tool, {"dry": True, "note": "入金", "Idempotency-Key": "k1"})
        (made,) = freee.calls
        assert made.more["headers"]["idempotency-key"] == "k1"  # type: ignore[index]
        assert (made.more["query"], made.more["body"]) == ({"dry": ["true"]}, {"note": "入金"})
        await source.aclose()

    run(check())


def test_a_handover_reaches_an_api_too(freee: CatalogApi) -> None:
    """The same tools, by the kind that the manifest says."""

    async def check() -> None:
        source = connectors(freee)
        handover = Handover(
            name="handover_1", tool="freee", read_only=True, mode="typescript", operations=("get_deals",), text="…"
        )
        (inner,) = await source.operation_tools(handover)
        assert (await call(inner, {"company_id": 1})).structured
        await source.aclose()

    run(check())


@pytest.mark.parametrize(
    "value", ["..", ".", "", "a/../../admin", "%2e%2e", "1?x=1", "1#x", "1\r\nHost: evil", "\\..\\"]
)
def test_an_argument_cannot_leave_its_place_in_the_path(freee: CatalogApi, value: str) -> None:
    """Whatever it holds, it is one segment; or it is refused."""
    pin = OperationPin(
        tool="freee",
        operation="get_deal",
        effect="read",
        description="",
        input_schema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
        contract=Contract(method="GET", path="/api/1/deals/{id}"),
    )

    async def check() -> None:
        source = connectors(freee, pin)
        (tool,) = await source.tools(Http("freee", read_only=True, operations=("get_deal",)))
        if value in ("..", ".", ""):
            assert (await failure(tool, {"id": value})).code == "invalid_input"
            assert freee.calls == []
        else:
            await call(tool, {"id": value})
            assert (freee.calls[0].operation, freee.calls[0].arguments) == ("get_deal", {"id": value})
        await source.aclose()

    run(check())


@pytest.mark.parametrize(
    ("mode", "effect", "code", "unknown"),
    [
        ("status-400", "write", "invalid_input", False),
        ("status-401", "write", "denied", False),
        ("status-403", "read", "denied", False),
        ("status-404", "read", "invalid_input", False),
        ("status-409", "write", "conflict", False),
        ("status-422", "write", "invalid_input", False),
        ("status-429", "write", "rate_limited", False),
        ("status-500", "read", "dependency_failure", False),
        ("status-500", "write", "dependency_failure", True),
        ("status-503", "write", "dependency_failure", True),
        ("away", "read", "dependency_failure", False),
        ("away", "write", "dependency_failure", False),
        ("here", "write", "dependency_failure", False),
        ("flood", "write", "dependency_failure", True),
        ("flood", "read", "dependency_failure", False),
        ("compressed", "read", "dependency_failure", False),
        ("not-json", "write", "dependency_failure", True),
        ("hang", "write", "dependency_failure", True),
        ("hang", "read", "dependency_failure", False),
    ],
)
def test_a_call_that_fails(freee: CatalogApi, mode: str, effect: str, code: str, unknown: bool) -> None:
    """In the plane's codes, with the API's own words in bounds and without the credential; a write is sent once."""

    async def check() -> None:
        source = connectors(freee)
        grant, name = (READ, "get_deals") if effect == "read" else (WRITE, "create_deal")
        tool = named(await source.tools(grant), name)
        tool = replace(tool, handler=replace(tool.handler, spec=replace(tool.spec, timeout_s=1.0)))  # type: ignore[type-var]
        freee.misbehave(mode)
        failed = await failure(tool, DEAL if effect == "write" else {"company_id": 1})
        assert (failed.code, failed.unknown_outcome) == (code, unknown), failed.message
        assert len(failed.message) < 1_300
        assert freee.token not in failed.message + repr(failed.details)
        if mode.startswith("status"):
            assert "だめでした ***" in failed.message
            assert failed.details["status"] == int(mode[7:])
            assert ("retry_after_s" in failed.details) == (mode in ("status-429", "status-503"))
        assert len(freee.calls) == 1
        await source.aclose()

    run(check())


def test_a_read_follows_within_the_apis_own_origin(freee: CatalogApi) -> None:
    """And no further."""

    async def check() -> None:
        source = connectors(freee)
        freee.misbehave("here", "freee.get_deals")
        output = await call(named(await source.tools(READ), "get_deals"), {"company_id": 1})
        assert output.structured == {"moved": True}
        await source.aclose()

    run(check())


def test_texts_and_binaries(freee: CatalogApi) -> None:
    """A text is handed on; what is none is left out, with a warning."""

    async def check() -> None:
        source = connectors(freee)
        tool = named(await source.tools(READ), "get_deals")
        freee.misbehave("text")
        assert (await call(tool, {"company_id": 1})).content == "号数,金額\n1,100\n"
        freee.misbehave("binary")
        output = await call(tool, {"company_id": 1})
        assert output.content == "[application/pdf, 109 bytes]"
        assert len(output.warnings) == 1
        freee.misbehave("secret")
        assert (await call(tool, {"company_id": 1})).structured == {"echo": "Bearer ***"}
        await source.aclose()

    run(check())


def test_an_api_that_is_not_there(freee: CatalogApi) -> None:
    """Nothing was sent, so a write's outcome is known: it was not done."""

    async def check() -> None:
        source = connectors(freee, url="http://127.0.0.1:9")
        failed = await failure(named(await source.tools(WRITE), "create_deal"), DEAL)
        assert (failed.code, failed.unknown_outcome) == ("dependency_failure", False)
        assert "cannot be reached" in failed.message
        await source.aclose()

    run(check())


def test_an_api_that_dies_under_a_write() -> None:
    """It was sent, and nobody knows more."""

    async def check() -> None:
        with CatalogApi("freee") as api:
            source = connectors(api)
            tools = await source.tools(WRITE)
            api.misbehave("die")
            failed = await failure(named(tools, "create_deal"), DEAL)
            assert (failed.code, failed.unknown_outcome) == ("dependency_failure", True)
            await source.aclose()

    run(check())


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://api.example.com", "https"),
        ("https://user:pass@api.example.com", "host and path"),
        ("https://api.example.com/?x=1", "host and path"),
        ("https://[oops", "no URL"),
        ("ftp://api.example.com", "https"),
    ],
)
def test_an_address_that_is_not_safe(freee: CatalogApi, url: str, said: str) -> None:
    """Refused before anything is sent; the message holds no part of the address."""

    async def check() -> None:
        source = connectors(freee, url=url)
        with pytest.raises(SourceFault, match=said) as raised:
            await source.tools(READ)
        assert "pass" not in str(raised.value)
        await source.aclose()

    run(check())


def test_a_missing_credential_is_named(freee: CatalogApi) -> None:
    """When it is needed, by its variable."""

    async def check() -> None:
        source = Connectors(manifest(["freee"], urls={"freee": freee.url}), {}, {}, QUICK)
        failed = await failure(named(await source.tools(READ), "get_deals"), {"company_id": 1})
        assert "FREEE_ACCESS_TOKEN" in failed.message
        assert freee.calls == []
        await source.aclose()

    run(check())


def test_calls_at_once_share_connections_and_do_not_mix(freee: CatalogApi) -> None:
    """Each gets its own answer."""

    async def check() -> None:
        source = connectors(freee)
        tools = await source.tools(READ)
        outputs = await asyncio.gather(
            *(call(named(tools, name), {"company_id": 1, "id": 5}) for name in ["get_deals", "get_deal"] * 8)
        )
        assert ["deals" in str(output.structured) for output in outputs] == [True, False] * 8
        await source.aclose()

    run(check())


def test_a_compiled_procedure_reaches_the_test_server(
    freee: CatalogApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From Markdown by `aop compile` with the test server's catalog to an answer, through the manifest alone."""
    monkeypatch.chdir(tmp_path)
    freee.write_catalog(tmp_path / "aop-catalog.yaml")
    document = "# 取引を読む\n\n(使う道具: freee の deals (read-only))\n\n取引を読む。\n"
    Path("deals.md").write_text(document, encoding="utf-8")
    assert main(["compile", "deals.md", "--color", "never"]) == 0

    async def check() -> None:
        written = read_manifest(tmp_path / "build" / "deals" / "manifest.json")
        source = Connectors(written, {}, {"FREEE_ACCESS_TOKEN": freee.token}, QUICK)
        tools = await source.tools(READ)
        assert (await call(named(tools, "get_deals"), {"company_id": 1})).structured
        await source.aclose()

    run(check())
