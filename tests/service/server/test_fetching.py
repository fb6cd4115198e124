"""Texts that a save only refers to: fetched once, from where they may be, within bounds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from workers.fetching import github as github_module
from workers.fetching.faults import FetchError
from workers.fetching.github import GithubFetcher
from workers.fetching.s3 import S3Fetcher
from workers.local.seaweedfs import SeaweedFS
from workers.records import GithubReference, S3Reference
from workers.settings import Settings

from .contents_api import Answer, ContentsApi, reply
from .running import Running, as_body, signed_for_github, text
from .test_hooks_github import COMMIT, ROOT, commit, push

SECRET = "-".join(("github", "token", "0123456789"))


@pytest.fixture
def api() -> Iterator[ContentsApi]:
    with ContentsApi() as found:
        yield found


def settings(api: ContentsApi, **changed: object) -> Settings:
    given: dict[str, object] = {
        "github_api": api.url,
        "github_token": SecretStr(SECRET),
        "github_repositories": (ROOT,),
        "max_document_bytes": 2_048,
        **changed,
    }
    return Settings.model_validate(given)


def fetched(api: ContentsApi, path: str, repository: str = ROOT) -> bytes:
    fetcher = GithubFetcher(settings(api))
    try:
        return fetcher.fetch(GithubReference(repository=repository, commit=COMMIT, path=path))
    finally:
        fetcher.close()


def fault(api: ContentsApi, path: str, repository: str = ROOT) -> FetchError:
    with pytest.raises(FetchError) as found:
        fetched(api, path, repository)
    assert SECRET not in str(found.value)
    assert SECRET not in found.value.text("ja")
    return found.value


def test_a_pushed_file_is_compiled_at_its_commit(run: Callable[..., Running], api: ContentsApi) -> None:
    """From the webhook to what is published; a file that is removed afterwards is retired."""
    running = run(github_api=api.url, github_token=SecretStr(SECRET))
    path = "docs/月次/手順.md"
    api.files[ROOT, COMMIT, path] = text().encode()

    def send(value: object) -> str:
        body = as_body(value)
        answer = running.client.post("/v1/hooks/github", content=body, headers=signed_for_github(body))
        found: str = answer.json()["saves"][0]["document_id"]
        return found

    document = send(push(commit(added=[path])))
    assert api.seen == [], "nobody waits for GitHub"
    running.compile_all()
    client = running.as_token()
    assert client.get(f"/v1/documents/{document}").json()["name"] == "月次"
    assert client.get(f"/v1/documents/{document}/source.md").text == text()
    assert {authorization for _, authorization in api.seen} == {f"Bearer {SECRET}"}
    send(push(commit(removed=[path]), pushed_at=1_800_000_001, after="b" * 40))
    running.compile_all()
    assert client.get(f"/v1/documents/{document}").json()["retired"] is True


def test_paths_are_quoted(api: ContentsApi) -> None:
    """Whatever a file is called, it is asked for, and nothing else."""
    for path in ("docs/a b#c?d.md", "docs/ü%2e.md", "a+b&c=d.md"):
        api.files[ROOT, COMMIT, path] = path.encode()
        assert fetched(api, path) == path.encode()


def redirect(target: str) -> Answer:
    return lambda handler: reply(handler, 301, location=target)


def test_redirects(api: ContentsApi) -> None:
    """A renamed repository is followed on the same host; to another host the token never goes."""
    api.files["acme/renamed", COMMIT, "a.md"] = b"# a\n"
    target = f"/repos/acme/renamed/contents/a.md?ref={COMMIT}"
    calls: list[str] = []

    def once(handler: BaseHTTPRequestHandler) -> None:
        calls.append(handler.path)
        if len(calls) == 1:
            reply(handler, 301, location=f"{api.url}{target}")
        else:
            reply(handler, 200, b"# a\n")

    api.instead["a.md"] = once
    assert fetched(api, "a.md") == b"# a\n"
    assert "renamed" in calls[1]
    with ContentsApi() as stranger:
        for place in (f"{stranger.url}{target}", "//127.0.0.2/x", f"https://{api.url.removeprefix('http://')}/x", ""):
            api.instead["b.md"] = redirect(place)
            assert fault(api, "b.md").fault == "unusable"
        assert stranger.seen == []
    api.instead["c.md"] = redirect("/repos/acme/manuals/contents/c.md")
    assert fault(api, "c.md").detail == "redirects"


def large(handler: BaseHTTPRequestHandler) -> None:
    """Announces nothing, and sends more than is allowed."""
    handler.send_response(200)
    handler.end_headers()
    handler.wfile.write(b"#" * 10_000)


def test_a_file_that_is_too_large(run: Callable[..., Running], api: ContentsApi) -> None:
    """Announced or not, no more is fetched than it takes to see it; the document fails, as one that is saved here
    would, and is no dead letter."""
    running = run(github_api=api.url, github_token=SecretStr(SECRET), max_document_bytes=2_048)
    for name, answer in (("docs/told.md", lambda found: reply(found, 200, b"#" * 10_000)), ("docs/large.md", large)):
        api.instead[name] = answer
        assert fetched(api, name) == b"#" * 2_049
        body = as_body(push(commit(added=[name]), after=COMMIT))
        answered = running.client.post("/v1/hooks/github", content=body, headers=signed_for_github(body)).json()
        running.compile_all()
        job = running.as_token().get(answered["saves"][0]["job"]).json()
        assert job["state"] == "failed"
        assert [found["name"] for found in job["result"]["diagnostics"]] == ["document-too-large"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (lambda handler: reply(handler, 404), "missing"),
        (lambda handler: reply(handler, 401), "denied"),
        (lambda handler: reply(handler, 403), "denied"),
        (lambda handler: reply(handler, 403, x_ratelimit_remaining="0"), "limited"),
        (lambda handler: reply(handler, 429, retry_after="7"), "limited"),
        (lambda handler: reply(handler, 500), "unreachable"),
        (lambda handler: reply(handler, 204), "unusable"),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), "unreachable"),
    ],
)
def test_answers_that_are_no_file(api: ContentsApi, answer: Answer, kind: str) -> None:
    """Each is told apart."""
    api.instead["a.md"] = answer
    found = fault(api, "a.md")
    assert found.fault == kind
    assert found.retry_after_s == (7 if "limited" in kind and found.detail == "429" else None)


def test_other_repositories(api: ContentsApi) -> None:
    """Are not asked for, whatever a save says."""
    assert fault(api, "a.md", "acme/other").fault == "forbidden"
    assert fault(api, "a.md", "../x").fault == "forbidden"
    assert api.seen == []


def test_a_server_that_drips(api: ContentsApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole is bounded in time, not only each read."""
    monkeypatch.setattr(github_module, "WHOLE_S", 0.5)

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b"#")
            handler.wfile.flush()
            time.sleep(0.1)

    api.instead["a.md"] = drip
    assert fault(api, "a.md").fault == "unreachable"  # in ten seconds it would have come to its end


# ------------------------------------------------------------------------------------------------------- S3


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SeaweedFS, Any]]:
    """A versioned bucket on a real S3 server."""
    with SeaweedFS(tmp_path_factory.mktemp("seaweed")) as server:
        client = server.client()
        for name in ("manuals", "secrets"):
            server.make_bucket(name)
        client.put_bucket_versioning(Bucket="manuals", VersioningConfiguration={"Status": "Enabled"})
        yield server, client


def s3_settings(server: SeaweedFS, **changed: object) -> Settings:
    given: dict[str, object] = {
        "s3_endpoint": server.endpoint,
        "s3_region": "us-east-1",
        "s3_access_key": SecretStr(server.access_key),
        "s3_secret_key": SecretStr(server.secret_key),
        "s3_path_style": True,
        "s3_buckets": ("manuals",),
        "max_document_bytes": 2_048,
        **changed,
    }
    return Settings.model_validate(given)


def test_objects_by_version(bucket: tuple[SeaweedFS, Any], tmp_path: Path) -> None:
    """The version that was saved, whatever lies there now; only of allowed buckets, and no more than it takes to see
    that it is too large."""
    server, client = bucket
    first = client.put_object(Bucket="manuals", Key="a/月次.md", Body="# 一\n".encode())
    client.put_object(Bucket="manuals", Key="a/月次.md", Body="# 二\n".encode())
    client.put_object(Bucket="secrets", Key="x", Body=b"x")
    fetcher = S3Fetcher(s3_settings(server))
    assert (
        fetcher.fetch(S3Reference(bucket="manuals", key="a/月次.md", version_id=first["VersionId"]))
        == "# 一\n".encode()
    )
    assert fetcher.fetch(S3Reference(bucket="manuals", key="a/月次.md")) == "# 二\n".encode()

    def kind(**reference: str) -> str:
        with pytest.raises(FetchError) as found:
            fetcher.fetch(S3Reference.model_validate(reference))
        assert server.secret_key not in str(found.value)
        return found.value.fault

    assert kind(bucket="secrets", key="x") == "forbidden"
    assert kind(bucket="manuals", key="none") == "missing"
    assert kind(bucket="manuals", key="a/月次.md", etag=first["ETag"].strip('"')) == "missing", "overwritten since"
    client.put_object(Bucket="manuals", Key="large", Body=b"#" * 10_000)
    assert fetcher.fetch(S3Reference(bucket="manuals", key="large")) == b"#" * 2_049
    fetcher.close()


def test_an_object_is_compiled(run: Callable[..., Running], bucket: tuple[SeaweedFS, Any]) -> None:
    """From the notification to what is published."""
    server, client = bucket
    made = client.put_object(Bucket="manuals", Key="手順/月次.md", Body=text().encode())
    running = run(**{name: getattr(s3_settings(server), name) for name in _S3})
    entity = {"key": "%E6%89%8B%E9%A0%86/%E6%9C%88%E6%AC%A1.md", "versionId": made["VersionId"], "sequencer": "A1"}
    record = {"eventName": "s3:ObjectCreated:Put", "s3": {"bucket": {"name": "manuals"}, "object": entity}}
    answer = running.as_token("webhooks").post("/v1/hooks/s3", json={"Records": [record]})
    assert answer.status_code == 202
    running.compile_all()
    assert running.as_token().get("/v1/documents/手順/月次.md").json()["name"] == "月次"


_S3 = ("s3_endpoint", "s3_region", "s3_access_key", "s3_secret_key", "s3_path_style", "s3_buckets")
