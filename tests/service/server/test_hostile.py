"""Whatever comes in: an answer in the one form, never an internal error. Secrets are compared in constant time, and
never told."""

from __future__ import annotations

import hmac
import json
import logging
from collections.abc import Callable
from string import printable
from urllib.parse import quote

import httpx2
import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from pipeline.diagnostics.bind import bind
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.json import diagnostic_dict
from pipeline.diagnostics.lang import Lang
from server.errors import ApiError
from server.hooks.github import Commit, changes, read_push
from server.hooks.s3 import read_notification
from server.hooks.signatures import signed_by_github, signed_by_standard
from server.hooks.standard import read_event
from server.masking import MASK, masked_diagnostics
from server.reading import read_json
from server.saving import numbered, once
from workers.globs import matches_any
from workers.identifiers import check_document_id
from workers.ledger.records import Project, Row
from workers.tokens import SCOPES, Token, TokenRefused

from .running import WEBHOOK_SECRET, Running, as_body, problem, saved_event, signed, signed_for_github

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    [
        "type",
        "data",
        "document_id",
        "revision",
        "content",
        "object",
        "Records",
        "s3",
        "eventName",
        "bucket",
        "name",
        "key",
    ]
)
LIKE_EVENTS = st.recursive(
    JSON | st.sampled_from(["document.saved", "document.deleted", "ObjectCreated:Put", "manuals", "a/b.md"]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=5) | st.lists(inner, max_size=3),
    max_leaves=20,
)
ANYBODY = Token(id="0" * 16, name="x", hash="0" * 64, scopes=SCOPES, created_ms=0)


@given(value=LIKE_EVENTS)
def test_events_are_read_or_refused(running: Running, value: object) -> None:
    """Every JSON value is either a save with a good id, or a 4xx that names a path."""
    for read in (
        lambda: [read_event(value, "m", running.settings)],
        lambda: read_notification(value, ANYBODY, running.settings).wanted,
        lambda: read_push(value, "0" * 64, running.settings).wanted,
    ):
        try:
            for wanted in read():
                assert check_document_id(wanted.document) == wanted.document
        except ApiError as error:
            assert 400 <= error.status < 500
            assert isinstance(error.details["path"], str)
            assert error.message("ja")
            assert error.message("en")


@given(data=st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_bodies_are_json_or_refused(data: bytes) -> None:
    """What is read is what Python reads; a refusal is a 400."""
    try:
        assert read_json(data) == json.loads(data)
    except ApiError as error:
        assert (error.status, error.code) == (400, "invalid_input")


@given(
    method=st.sampled_from(["GET", "PUT", "DELETE", "POST", "HEAD", "PATCH"]),
    path=st.text(st.characters(min_codepoint=33, max_codepoint=0x2FFF, exclude_characters="#?"), max_size=40),
    query=st.text(st.sampled_from(printable[:-5]), max_size=20),
    body=st.binary(max_size=50),
)
def test_requests_are_answered(everybody: httpx2.Client, method: str, path: str, query: str, body: bytes) -> None:
    """Any path below documents, jobs and tools, with all rights: never an internal error, always the one form."""
    for prefix in ("/v1/documents/", "/v1/jobs/", "/v1/tools/", "/v1/hooks/"):
        answer = everybody.request(method, f"{prefix}{quote(path)}?{quote(query, safe='=&')}", content=body)
        assert answer.status_code < 500, answer.text
        assert answer.headers["x-content-type-options"] == "nosniff"
        if answer.status_code >= 400 and method != "HEAD":
            problem(answer)


@pytest.fixture(scope="module")
def everybody(running: Running) -> httpx2.Client:
    return running.as_token()


@given(first=st.integers(0, 10**30), second=st.integers(0, 10**30))
def test_ranks_sort_as_numbers(first: int, second: int) -> None:
    """However many digits they have."""
    assert (numbered(str(first)) < numbered(str(second))) == (first < second)


@given(st.lists(st.text(max_size=6), min_size=1, max_size=4), st.lists(st.text(max_size=6), min_size=1, max_size=4))
def test_keys_do_not_run_into_each_other(first: list[str], second: list[str]) -> None:
    """Equal only for equal parts."""
    assert (once(*first) == once(*second)) == (first == second)


@given(
    commits=st.lists(
        st.builds(
            Commit.model_construct,
            added=st.lists(st.sampled_from("abcd"), max_size=3),
            modified=st.lists(st.sampled_from("abcd"), max_size=3),
            removed=st.lists(st.sampled_from("abcd"), max_size=3),
        ),
        max_size=5,
    )
)
def test_the_last_commit_decides(commits: list[Commit]) -> None:
    """A path is there in the end if the last commit that names it adds or modifies it."""
    found = changes(commits)
    for path in "abcd":
        naming = [commit for commit in commits if path in (*commit.added, *commit.modified, *commit.removed)]
        if not naming:
            assert path not in found
        else:
            kept = path in (*naming[-1].added, *naming[-1].modified)
            assert found[path][0] == ("saved" if kept else "removed")


@given(pattern=st.text("ab*/?", max_size=12), text=st.text("ab/", max_size=10))
def test_patterns_mean_what_a_slow_reading_says(pattern: str, text: str) -> None:
    """The walk with one way back finds what trying everything finds."""
    from fnmatch import fnmatchcase

    def slow(wanted: list[str], found: list[str]) -> bool:
        if not wanted:
            return not found
        if wanted[0] == "**":
            return slow(wanted[1:], found) or (bool(found) and slow(wanted, found[1:]))
        return bool(found) and fnmatchcase(found[0], wanted[0]) and slow(wanted[1:], found[1:])

    assert matches_any([pattern], text) == slow(pattern.split("/"), text.split("/"))


ODD = st.text(st.sampled_from("人`「」→: ab。"), max_size=6)


@given(odd=ODD, seen=ODD, lang=st.sampled_from(("ja", "en")), name=st.sampled_from(("call-unknown", "call-cycle")))
def test_hidden_names_never_show(odd: str, seen: str, lang: Lang, name: str) -> None:
    """However the hidden and the readable documents are called: no part of a hidden name is told."""
    hidden, own = f"極{odd}秘", f"窓口{seen}"
    finding = (
        Finding(name, None, arguments=(("target", own),), suggestions=(hidden, own))
        if name == "call-unknown"
        else Finding(name, None, arguments=(("path", (own, hidden, own)),))
    )
    project = Project("1", {"own/a.md": Row(1, own, (own,)), "secret/b.md": Row(1, hidden, ())})
    found = [diagnostic_dict(entry) for entry in bind([finding], {}, lang)]
    assert "極" in str(found)
    token = ANYBODY.model_copy(update={"documents": ("own/**",)})
    masked = masked_diagnostics(found, token, "own/a.md", lambda: project, lang)
    assert not {"極", "秘"} & set(str(masked))
    assert MASK in str(masked)
    assert masked_diagnostics(found, ANYBODY, "own/a.md", lambda: project, lang) == found


# --------------------------------------------------------------------------------------------- constant time


@pytest.fixture
def comparisons(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The lengths of what is compared in constant time."""
    seen: list[tuple[int, int]] = []
    compare = hmac.compare_digest

    def watched(first: bytes | str, second: bytes | str) -> bool:
        seen.append((len(first), len(second)))
        return compare(first, second)  # type: ignore[type-var]  # both are of one kind

    monkeypatch.setattr(hmac, "compare_digest", watched)
    return seen


def test_signatures_are_compared_in_constant_time(running: Running, comparisons: list[tuple[int, int]]) -> None:
    """Every secret is tried whichever fits, and each by a comparison whose time tells nothing."""
    secrets = running.settings.webhook_secrets
    body = as_body(saved_event("a", 1))
    for headers in (signed(body, secret.get_secret_value()) for secret in secrets):
        comparisons.clear()
        signed_by_standard(secrets, headers, body)
        assert len(comparisons) == len(secrets)
    github = (*running.settings.github_secrets, *secrets)
    for secret in github:
        comparisons.clear()
        header = signed_for_github(body, secret.get_secret_value())["x-hub-signature-256"]
        signed_by_github(github, header, body)
        assert comparisons == [(64, 64)] * len(github)


def test_tokens_are_compared_in_constant_time(running: Running, comparisons: list[tuple[int, int]]) -> None:
    """Known or not, right or wrong: one comparison of digests, never of the secrets."""
    token = running.token()
    texts = [token, f"{token[:-1]}{'A' if token[-1] != 'A' else 'B'}", "aop_0123456789abcdef_" + "x" * 43]
    for text in texts:
        comparisons.clear()
        try:
            running.tokens.authenticate(text)
        except TokenRefused as refused:
            assert refused.reason == "unknown"
        assert comparisons == [(64, 64)]


# ------------------------------------------------------------------------------------------------- secrets


def test_no_secret_in_errors_or_logs(
    run: Callable[..., Running], caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of whatever goes wrong, in whatever way, nothing tells the token, the signature, or a secret of ours."""
    from workers.logs import Masking, secrets_of

    running = run()
    mask = Masking(secrets_of(running.settings))
    lines: list[str] = []

    def kept(_logger: object, _method: str, line: structlog.typing.EventDict) -> str:
        lines.append(str(mask(None, "", line)))
        raise structlog.DropEvent

    before = structlog.get_config()
    structlog.configure(processors=[structlog.processors.format_exc_info, kept])
    caplog.set_level(logging.DEBUG)
    token = running.token()
    client = running.as_text(token)
    body = as_body(saved_event("a", 1))
    headers = signed(body)
    answers = [
        client.get("/v1/documents/none").text,
        client.put("/v1/documents/a/../b", content=token).text,
        client.post("/v1/hooks/document-saved", content=body + b" ", headers=headers).text,
        running.as_text(token + "x").get("/v1/documents").text,
    ]

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError(f"a bug that shows {token} and {WEBHOOK_SECRET}")

    monkeypatch.setattr(running.service.ledger, "document", broken)
    failed = client.get("/v1/documents/a")
    assert problem(failed)[:2] == (500, "internal")
    assert problem(failed)[2]["request_id"] == failed.headers["x-request-id"]
    answers.append(failed.text)
    structlog.configure(**before)
    told = "".join((*answers, *lines))
    assert "a bug that shows" in "".join(lines), "the log has the cause"
    for secret in (token, token.split("_", 2)[2], WEBHOOK_SECRET, headers["webhook-signature"]):
        assert secret not in told
