"""The MCP server and those who mean no good: without a token, after others' documents, with broken requests, from pages
of their own."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from starlette.requests import HTTPConnection

from server.errors import ApiError
from server.mcp.app import TOOLS
from server.mcp.gate import MAX_METHOD, completed
from server.mcp.pages import Pages
from workers.settings import Settings

from ..waiting import until
from .mcp_client import CURRENT, PREVIOUS, called, outcome, post, refused, rpc
from .running import Running, problem, text

INITIALIZE = {
    "protocolVersion": PREVIOUS,
    "capabilities": {},
    "clientInfo": {"name": "x", "version": "1"},
}
ASKS: list[tuple[str, dict[str, Any]]] = [
    ("initialize", INITIALIZE),
    ("ping", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "list_tools", "arguments": {}}),
    ("server/discover", {}),
    ("subscriptions/listen", {}),
    ("resources/list", {}),
]


# ------------------------------------------------------------------------------------------------------ tokens


@pytest.fixture(scope="module")
def wrong_tokens(running: Running) -> dict[str, str]:
    """By what is wrong with them."""
    good = running.token()
    now = time.time_ns() // 1_000_000
    revoked = running.token()
    running.tokens.revoke(revoked.split("_")[1])
    expired = running.token(expires_ms=now + 2_000)
    until(lambda: time.time_ns() // 1_000_000 > now + 2_000)
    return {
        "no-token": "",
        "malformed": "x",
        "unknown": good[:-1] + ("A" if good[-1] != "A" else "B"),
        "revoked": revoked,
        "expired": expired,
    }


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS])
@pytest.mark.parametrize("reason", ["no-token", "malformed", "unknown", "revoked", "expired"])
def test_without_a_good_token(running: Running, wrong_tokens: dict[str, str], reason: str, version: str) -> None:
    """Whatever is asked: 401 with the reason and a challenge, and not a word about tools."""
    jobs = running.jobs()
    for method, params in ASKS:
        answer = rpc(running, method, params, token=wrong_tokens[reason], version=version)
        assert problem(answer) == (401, "unauthorized", {"reason": reason})
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert not any(tool in answer.text for tool in TOOLS)
    assert running.jobs() == jobs


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"])
def test_other_methods(running: Running, method: str) -> None:
    """Without a token 401; with one 405, at once: no stream is opened that nothing would come through."""
    headers = {"accept": "text/event-stream", "mcp-session-id": "x"}
    assert running.client.request(method, "/mcp", headers=headers).status_code == 401
    for version in (CURRENT, PREVIOUS, ""):
        given = {**headers, **({"mcp-protocol-version": version} if version else {})}
        answer = running.as_token().request(method, "/mcp", headers=given)
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")


def test_a_batch(running: Running) -> None:
    """Was in one old revision: it is refused whole, without a token as an unknown client, with one as malformed."""
    jobs = running.jobs()
    call = {"name": "compile_aop", "arguments": {"text": text()}}
    batch = [{"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": call} for number in (1, 2)]
    body = json.dumps(batch).encode()
    for version in KNOWN_PROTOCOL_VERSIONS:
        headers = {"accept": "application/json", "mcp-protocol-version": version}
        assert post(running, body, **headers).status_code == 401
        answer = post(running, body, **headers, authorization=f"Bearer {running.token()}")
        assert answer.status_code == 400
        assert "error" in answer.json()
    assert running.jobs() == jobs


def test_two_tokens(running: Running) -> None:
    """Nobody is two people."""
    answer = rpc(running, "tools/list", token=running.token(), headers={"x-api-token": running.token()})
    assert problem(answer)[2] == {"reason": "two-tokens"}


def test_a_token_that_is_revoked_in_between(running: Running) -> None:
    """The next request is refused: there is no session that would remember it."""
    token = running.token()
    assert rpc(running, "initialize", INITIALIZE, token=token, version=PREVIOUS).status_code == 200
    running.tokens.revoke(token.split("_")[1])
    assert rpc(running, "tools/list", token=token, version=PREVIOUS).status_code == 401


# ------------------------------------------------------------------------------------- other people's documents

OURS, THEIRS = "営業/", "人事/"
CALLING = "# {name}\n\n## フェーズ 1: 一 (呼び出す AOP: {target})\n"


@pytest.fixture(scope="module")
def shared(running: Running) -> str:
    """A token that may touch only `営業/**`, while there are documents in `人事/` with names that nobody guesses."""
    everything = running.token()
    for document, content in {
        f"{THEIRS}hyouka.md": text("秘密評価"),
        f"{THEIRS}hyouka2.md": text("秘密評価表"),
        f"{THEIRS}kyuuyo.md": CALLING.format(name="秘密給与", target="見積"),
        f"{THEIRS}twin1.md": text("双子"),
        f"{THEIRS}twin2.md": text("双子"),
        f"{OURS}mitsumori.md": CALLING.format(name="見積", target="秘密給与"),
        f"{OURS}own.md": text("自分"),
    }.items():
        called(running, everything, "compile_aop", document_id=document, text=content)
    running.compile_all()
    return running.token(documents=(f"{OURS}**",))


def hidden(answer: object) -> None:
    """Nothing of theirs is in it."""
    shown = json.dumps(answer, ensure_ascii=False)
    assert not [word for word in ("hyouka", "kyuuyo", "秘密評価表", "twin", THEIRS) if word in shown], shown


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_names_that_a_check_must_not_tell(running: Running, shared: str, lang: str) -> None:
    """Candidates for a call, several of one name, the path of a cycle: what is out of reach is masked."""
    texts = {
        "near": CALLING.format(name="x", target="秘密評価帳"),
        "path": CALLING.format(name="x", target="../人事/hyouk.md"),
        "twins": CALLING.format(name="x", target="双子"),
        "cycle": CALLING.format(name="見積", target="秘密給与"),
        "own": CALLING.format(name="x", target="見積り"),
    }
    found = {}
    for name, content in texts.items():
        arguments = {"text": content, "document_id": f"{OURS}mitsumori.md" if name == "cycle" else f"{OURS}new.md"}
        params = {"name": "check_aop", "arguments": arguments}
        answer = rpc(running, "tools/call", params, token=shared, headers={"accept-language": lang}).json()
        found[name] = answer["result"]["structuredContent"]["errors"]
        if name != "path":  # which says what the text itself says
            hidden(answer)
    assert {name: {error["name"] for error in errors} for name, errors in found.items()} == {
        "near": {"call-unknown"},
        "path": {"call-unknown"},
        "twins": {"call-unknown"},
        "cycle": {"call-cycle"},
        "own": {"call-unknown"},
    }
    assert "***" in json.dumps(found["near"])
    assert [error["suggestions"] for error in found["own"]] == [["見積"]]


def test_a_called_document_is_named_as_the_text_names_it(running: Running, shared: str) -> None:
    """Its id, and what it is called else, are not said."""
    answer = called(running, shared, "check_aop", text=CALLING.format(name="x", target="秘密評価"))
    hidden(answer)
    document = f"{OURS}calls.md"
    job = called(running, shared, "compile_aop", document_id=document, text=CALLING.format(name="x", target="秘密評価"))
    running.compile_all()
    hidden(called(running, shared, "get_compile_status", job_id=job["job_id"]))
    for file in ("procedure.py", "manifest.json", "graph.mmd"):
        hidden(called(running, shared, "get_procedure", document_id=document, file=file))


def test_a_path_that_was_guessed(running: Running, shared: str) -> None:
    """Does not bring out what the document there is called; a name that the text says itself is no secret."""
    content = CALLING.format(name="x", target="../人事/hyouka.md")
    arguments = {"text": content, "document_id": f"{OURS}guess.md"}
    (phase,) = called(running, shared, "check_aop", **arguments)["phases"]
    assert phase["calls"] == "***"
    (phase,) = called(running, running.token(), "check_aop", **arguments)["phases"]
    assert phase["calls"] == "秘密評価"
    named = CALLING.format(name="x", target="秘密評価")
    (phase,) = called(running, shared, "check_aop", text=named)["phases"]
    assert phase["calls"] == "秘密評価"


def test_documents_out_of_reach(running: Running, shared: str) -> None:
    """The same answer whether there is such a document or not, for every tool; its jobs do not exist."""
    everything = running.token()
    theirs = called(running, everything, "compile_aop", document_id=f"{THEIRS}hyouka.md", text=text("秘密評価"))
    running.compile_all()
    for tool, more in (
        ("compile_aop", {"text": "# x"}),
        ("compile_aop", {}),
        ("get_procedure", {}),
        ("check_aop", {"text": "x"}),
    ):
        there = refused(running, shared, tool, document_id=f"{THEIRS}hyouka.md", **more)
        nowhere = refused(running, shared, tool, document_id=f"{THEIRS}nothing.md", **more)
        assert there == nowhere
        assert (there["code"], there["details"]) == ("forbidden", {"documents": [f"{OURS}**"]})
    job = refused(running, shared, "get_compile_status", job_id=theirs["job_id"])
    assert job == refused(running, shared, "get_compile_status", job_id="f" * 27)
    unnamed = refused(running, shared, "compile_aop", text="# x")
    assert unnamed["code"] == "forbidden"


def test_ids_cannot_leave_their_prefix(running: Running, shared: str) -> None:
    """Dots, slashes, NUL, other forms of the same letter."""
    for identity in (f"{OURS}../{THEIRS}hyouka.md", f"/{OURS}a", f"{OURS}/a", f"{OURS}a\0", "a" * 513, ".", ""):
        error = refused(running, shared, "compile_aop", document_id=identity, text="# x")
        assert error["code"] in ("invalid_input", "forbidden")


# ------------------------------------------------------------------------------------------- broken protocol


def nested(depth: int, inside: str = "1") -> str:
    return "[" * depth + inside + "]" * depth


def request(inside: str) -> bytes:
    return ('{"jsonrpc": "2.0", "id": 1, "method": ' + inside + "}").encode()


def call(params: str) -> bytes:
    return request(f'"tools/call", "params": {params}')


def check(arguments: str) -> bytes:
    return call(f'{{"name": "check_aop", "arguments": {arguments}}}')


BROKEN = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"x"',
    b"\xff\xfe",
    b"NaN",
    b'{"jsonrpc": "2.0"}',
    b'{"jsonrpc": "1.0", "id": 1, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}',
    b'{"jsonrpc": "2.0", "id": 1, "result": {}}',
    b'{"jsonrpc": "2.0", "id": 1' + b"0" * 5_000 + b', "method": "tools/list"}',
    request("1"),
    request('"nothing/such"'),
    call("[1]"),
    call('{"name": 1}'),
    call('{"name": "\\ud800", "arguments": {}}'),
    check("[]"),
    check('{"text": "\\ud800"}'),
    check('{"\\ud800": 1}'),
    check('{"text": ' + nested(150) + "}"),
    check('{"text": ' + nested(100_000) + "}"),
    nested(100_000).encode(),
]


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS, "1999-01-01", "x" * 1_000, ""])
def test_broken_requests(running: Running, version: str) -> None:
    """Refused as the client's fault; never an internal error, and the server goes on."""
    token = running.token()
    headers = {"accept": "application/json", "authorization": f"Bearer {token}", "mcp-method": "tools/call"}
    if version:
        headers["mcp-protocol-version"] = version
    for body in BROKEN:
        answer = post(running, body, **headers)
        assert answer.status_code < 500, (body[:100], answer.text)
        if answer.status_code == 200:
            found = answer.json()
            assert "error" in found or found["result"].get("isError") or b"ud800" in body, body[:100]
            assert found.get("error", {}).get("code") != -32603, (body[:100], found)
        assert "Traceback" not in answer.text
    assert rpc(running, "tools/list", token=token).status_code == 200


@pytest.mark.parametrize(("length", "code"), [(MAX_METHOD, -32601), (MAX_METHOD + 1, -32600)])
def test_a_long_method_is_not_repeated(running: Running, length: int, code: int) -> None:
    """A name of a usual length is one that there is not; a longer one does not even come as far as that."""
    name = "x" * length
    headers = {"accept": "application/json", "authorization": f"Bearer {running.token()}", "mcp-method": name}
    answer = post(running, request(f'"{name}"'), **headers, **{"mcp-protocol-version": PREVIOUS})
    assert answer.json()["error"]["code"] == code
    assert (name in answer.text) <= (length <= MAX_METHOD)


def test_texts_that_are_not_unicode(running: Running) -> None:
    """Half a surrogate pair is nothing that JSON in UTF-8 could hold."""
    token = running.token()
    arguments: list[dict[str, object]] = [{"text": "# \ud800"}, {"text": "x", "document_id": "a\ud800"}, {"\ud800": 1}]
    for given_ones in arguments:
        params = {"name": "check_aop", "arguments": given_ones}
        for version in (CURRENT, PREVIOUS):
            answer = rpc(running, "tools/call", params, token=token, version=version)
            assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)


@given(
    tool=st.sampled_from(sorted(TOOLS)),
    arguments=st.dictionaries(
        st.sampled_from(["text", "document_id", "job_id", "file", "query", "limit", "idempotency_key", "x"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
            max_leaves=6,
        ),
        max_size=4,
    ),
    version=st.sampled_from([CURRENT, PREVIOUS]),
)
def test_any_arguments(running: Running, tool: str, arguments: dict[str, Any], version: str) -> None:
    """An answer, or an error whose code is not `internal`."""
    answer, failed = outcome(running, running.token(), tool, version, **arguments)
    assert not failed or answer["code"] in ("invalid_input", "not_found", "forbidden"), answer


def test_what_is_sent_does_not_come_back(running: Running) -> None:
    """A name of a hundred kilobytes is cut: an answer is no larger than it need be."""
    given_ones: list[dict[str, Any]] = [{"x" * 100_000: 1}, {f"x{number}": 1 for number in range(5_000)}]
    for arguments in given_ones:
        error = refused(running, running.token(), "compile_aop", **arguments)
        assert error["code"] == "invalid_input"
        assert len(json.dumps(error)) < 5_000


def test_sizes(run: Callable[..., Running]) -> None:
    """A body over the limit is refused, announced or not; one that is packed as well."""
    small = run(max_body_bytes=2_048, max_document_bytes=1_024)
    headers = {"authorization": f"Bearer {small.token()}", "accept": "application/json"}
    assert problem(post(small, b"x" * 2_049, **headers)) == (413, "invalid_input", {"limit_bytes": 2_048})
    assert problem(post(small, b"{}", **headers, content_encoding="gzip"))[:2] == (415, "invalid_input")

    def pieces() -> Iterator[bytes]:
        yield from [b" " * 100] * 50

    answer = small.as_text("").post("/mcp", content=pieces(), headers={**headers, "content-type": "application/json"})
    assert problem(answer)[:2] == (413, "invalid_input")


def test_a_body_that_never_comes(run: Callable[..., Running], monkeypatch: pytest.MonkeyPatch) -> None:
    """Is not waited for."""
    monkeypatch.setattr("server.limits.BODY_S", 0.3)
    slow = run()
    with socket.create_connection(("127.0.0.1", slow.server.port), timeout=120) as connection:
        lines = ("POST /mcp HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {slow.token()}", "Content-Length: 9")
        connection.sendall("\r\n".join((*lines, "", "")).encode())
        assert connection.recv(65_536).startswith(b"HTTP/1.1 408 ")


def test_what_the_protocol_has_and_we_have_not(running: Running) -> None:
    """Prompts, resources, subscriptions, sessions: not there, said at once."""
    token = running.token()
    for method in ("resources/list", "prompts/list", "subscriptions/listen", "logging/setLevel", "completion/complete"):
        for version in (CURRENT, PREVIOUS):
            answer = rpc(running, method, {}, token=token, version=version).json()
            assert answer["error"]["code"] in (-32601, -32602), (method, answer)
    answer = rpc(running, "initialize", INITIALIZE, token=token, version=PREVIOUS)
    assert "mcp-session-id" not in answer.headers
    assert answer.json()["result"]["protocolVersion"] == PREVIOUS


# ----------------------------------------------------------------------------------------- other people's pages


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS])
def test_a_page_of_somebody_else(run: Callable[..., Running], version: str) -> None:
    """A name that was turned to this machine, or a page from elsewhere, reaches nothing, token or not; local ones do,
    and those of the public address."""
    here = run(public_url="https://aop.example.com/base")
    token = here.token()

    def status(**headers: str) -> int:
        return rpc(here, "tools/list", token=token, version=version, headers=headers).status_code

    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1:1.evil.example", "127.0.0.2"):
        assert status(host=host) == 421, host
    for origin in (
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "http://localhost:1.evil.example",
        "http://aop.example.com",
        "https://aop.example.com:8443",
        "file://",
    ):
        assert status(origin=origin) == 403, origin
    for host in (f"127.0.0.1:{here.server.port}", f"localhost:{here.server.port}", "[::1]:9", "aop.example.com"):
        assert status(host=host) == 200, host
    for origin in ("http://localhost:6274", "http://127.0.0.1:1", "https://aop.example.com"):
        assert status(origin=origin) == 200, origin
    assert status(**{"content-type": "text/plain"}) in (400, 415)


@pytest.mark.parametrize(
    ("public", "origin", "passes"),
    [
        ("https://aop.example.com/base", "https://aop.example.com", True),
        ("https://aop.example.com/base", "https://evil.example", False),
        ("https://aop.example.com/base", "http://localhost:6274", True),
        (None, "https://page.example", True),
        ("https://aop.example.com/base", None, True),
    ],
)
def test_behind_a_proxy(public: str | None, origin: str | None, passes: bool) -> None:
    """The host that a request names is the proxy's business; pages are those of the public address, if it is known."""
    pages = Pages.of(Settings.model_validate({"host": "10.0.0.7", "public_url": public}))
    headers = [(b"host", b"inside:8000")] + ([] if origin is None else [(b"origin", origin.encode())])
    asked = HTTPConnection({"type": "http", "headers": headers})
    if passes:
        pages.check(asked)
    else:
        with pytest.raises(ApiError, match="origin"):
            pages.check(asked)


# ------------------------------------------------------------------------------------------------- our own part


@given(st.binary(max_size=60) | st.just(b'{"result": {"text": "unavailableTools"}}'))
def test_other_answers_pass_unchanged(body: bytes) -> None:
    """Only that of `tools/list` is completed."""
    assert completed(body) == body
