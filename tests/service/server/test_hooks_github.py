"""`POST /v1/hooks/github`: pushes, and what a parse worker fetches for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import httpx2
import pytest

from workers.records import GithubReference

from .running import Running, as_body, problem, signed_for_github

PATH = "/v1/hooks/github"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROOT = "acme/manuals"


def commit(added: Sequence[str] = (), modified: Sequence[str] = (), removed: Sequence[str] = ()) -> dict[str, Any]:
    return {"id": COMMIT, "added": list(added), "modified": list(modified), "removed": list(removed)}


def push(*commits: dict[str, Any], pushed_at: int = 1_800_000_000, after: str = COMMIT) -> dict[str, Any]:
    return {
        "ref": "refs/heads/main",
        "before": "f" * 40,
        "after": after,
        "repository": {"full_name": ROOT, "default_branch": "main", "pushed_at": pushed_at, "private": True},
        "commits": list(commits),
    }


def send(running: Running, value: object, event: str = "push") -> httpx2.Response:
    body = as_body(value)
    return running.client.post(PATH, content=body, headers=signed_for_github(body, event=event))


def test_added_modified_removed_renamed(running: Running, document: str) -> None:
    """The last that happened to a path counts; a renamed file goes at its old path and comes at the new one."""
    base = f"docs/{document}"
    answer = send(
        running,
        push(
            commit(added=[f"{base}/new.md", f"{base}/short-lived.md", "docs/picture.png", "README.md"]),
            commit(modified=[f"{base}/changed.md"], removed=[f"{base}/short-lived.md", f"{base}/old-name.md"]),
            commit(added=[f"{base}/new-name.md"], removed=[f"{base}/gone.md"]),
        ),
    )
    assert answer.status_code == 202
    archive = running.service.backend.archive
    saves = [archive.save(one["document_id"], one["sequence"]) for one in answer.json()["saves"]]
    found = {save.document.removeprefix(f"{ROOT}/{base}/"): save for save in saves}
    assert {name: save.action for name, save in found.items()} == {
        "new.md": "compile",
        "short-lived.md": "retire",
        "changed.md": "compile",
        "old-name.md": "retire",
        "new-name.md": "compile",
        "gone.md": "retire",
    }
    reference = found["new.md"].reference
    assert reference == GithubReference(repository=ROOT, commit=COMMIT, path=f"{base}/new.md")


def test_forgeries(running: Running, document: str) -> None:
    """Every byte is signed, with one of our secrets; the header must have GitHub's form."""
    body = as_body(push(commit(added=[f"docs/{document}.md"])))
    good = signed_for_github(body)
    signature = good["x-hub-signature-256"]
    before = running.jobs()
    bare = signature.removeprefix("sha256=")
    for header in ("", "sha256=", bare, signature[:-1], signature.upper(), f"sha1={bare}", "é"):
        answer = running.client.post(
            PATH, content=body, headers={**good, "x-hub-signature-256": header.encode("latin-1")}
        )
        assert problem(answer)[:2] == (401, "unauthorized"), header
    assert problem(running.client.post(PATH, content=body + b" ", headers=good))[0] == 401
    other = signed_for_github(body, secret="another secret of somebody")
    assert problem(running.client.post(PATH, content=body, headers=other))[2] == {"reason": "signature-wrong"}
    assert running.jobs() == before


def test_replays(running: Running, document: str) -> None:
    """The number of a delivery is not signed: the body alone tells that it is the same one."""
    body = as_body(push(commit(added=[f"docs/{document}.md"])))
    first = running.client.post(PATH, content=body, headers=signed_for_github(body) | {"x-github-delivery": "1"})
    before = running.jobs()
    again = running.client.post(PATH, content=body, headers=signed_for_github(body) | {"x-github-delivery": "2"})
    assert again.content == first.content
    assert running.jobs() == before


def test_a_push_that_arrives_late(running: Running, document: str) -> None:
    """Pushes sort by when they were made."""
    path = f"docs/{document}.md"
    send(running, push(commit(added=[path]), pushed_at=1_800_000_100))
    late = send(running, push(commit(added=[path]), pushed_at=1_800_000_000, after="a" * 40))
    assert late.json()["saves"][0]["status"] == "superseded"


def test_what_is_not_for_us(running: Running, document: str) -> None:
    """Other repositories are refused; other branches, deleted ones and other events are nothing to do."""
    change = commit(added=[f"docs/{document}.md"])
    strange = push(change)
    strange["repository"]["full_name"] = "acme/other"
    assert problem(send(running, strange)) == (403, "forbidden", {"path": "/repository/full_name"})
    for value, event in (
        ({**push(change), "ref": "refs/heads/feature"}, "push"),
        ({**push(change), "deleted": True}, "push"),
        ({"zen": "…"}, "ping"),
    ):
        answer = send(running, value, event)
        assert (answer.status_code, answer.json()["saves"]) == (202, [])


def test_paths_that_are_no_ids(running: Running, document: str) -> None:
    """They are told beside the others."""
    answer = send(running, push(commit(added=[f"docs/{document} 1.md", f"docs/{document}.md"]))).json()
    assert [one["document_id"] for one in answer["saves"]] == [f"{ROOT}/docs/{document}.md"]
    assert [one["path"] for one in answer["refused"]] == ["/commits/0/added/0"]


@pytest.mark.parametrize(
    ("spoil", "path"),
    [
        (lambda value: value.pop("after"), "/after"),
        (lambda value: value.update(after="x" * 40), "/after"),
        (lambda value: value["repository"].update(full_name="../x"), "/repository/full_name"),
        (lambda value: value["commits"][0].update(added="x"), "/commits/0/added"),
        (lambda value: value["commits"][0].update(added=[1]), "/commits/0/added/0"),
    ],
)
def test_malformed_pushes(running: Running, spoil: Callable[[Any], object], path: str) -> None:
    """400 with the field's path."""
    value = push(commit(added=["docs/a.md"]))
    spoil(value)
    assert problem(send(running, value))[2]["path"] == path
