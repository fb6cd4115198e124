"""`POST /v1/hooks/github`: pushes to the default branch of the configured repositories.

A document's id is OWNER/NAME/PATH. The text is fetched later, at the commit that was pushed, so that nobody waits here
for GitHub.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal

from pydantic import Field, StringConstraints
from starlette.requests import Request
from starlette.responses import Response

from server.errors import ApiError
from server.hooks.several import Notification, accept_all
from server.hooks.signatures import require_secrets, signed_by_github
from server.language import language_of
from server.limits import address_of, read_body, take
from server.reading import Open, read_document_id, read_json, read_model
from server.saving import Wanted, numbered, once, trace_of
from server.service import Service
from workers.globs import matches_any
from workers.records import GithubReference
from workers.settings import Settings

Path = Annotated[str, StringConstraints(min_length=1, max_length=4_096)]
Paths = Annotated[list[Path], Field(max_length=20_000, default_factory=list)]


class Repository(Open):
    """`pushed_at`: seconds since 1970, by which pushes sort; a text where it is no push."""

    full_name: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$")]
    default_branch: Annotated[str, StringConstraints(min_length=1, max_length=512)]
    pushed_at: int | str | None = None


class Commit(Open):
    added: Paths
    modified: Paths
    removed: Paths


class Push(Open):
    ref: Annotated[str, StringConstraints(max_length=1_024)]
    after: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    deleted: bool = False
    repository: Repository
    commits: Annotated[list[Commit], Field(max_length=5_000, default_factory=list)]


async def github_push(service: Service, request: Request) -> Response:
    """202 with the jobs. Raises ApiError."""
    settings = service.settings
    require_secrets(settings.github_secrets, "GITHUB_SECRETS")
    await service.run(lambda backend: take(service, backend, f"hook:github:{address_of(request)}"))
    body = await read_body(request, settings.max_body_bytes)
    signed_by_github(settings.github_secrets, request.headers.get("x-hub-signature-256"), body)
    event = request.headers.get("x-github-event", "")
    if event == "push":
        notification = read_push(read_json(body), hashlib.sha256(body).hexdigest(), settings)
    else:
        notification = Notification()
        notification.ignore("header.X-GitHub-Event", "other-event")
    return await accept_all(service, notification, trace_of(request), language_of(request))


def read_push(value: object, digest: str, settings: Settings) -> Notification:
    """`digest`: of the signed body; the header that numbers deliveries is not signed. Raises ApiError 400, 403."""
    push = read_model(Push, value)
    found = Notification()
    name = push.repository.full_name
    if name.casefold() not in {allowed.casefold() for allowed in settings.github_repositories}:
        path = "/repository/full_name"
        raise ApiError("forbidden", "repository", details={"path": path}, path=path)
    if push.deleted or push.ref != f"refs/heads/{push.repository.default_branch}":
        found.ignore("/ref", "other-branch")
        return found
    for path, (change, place) in changes(push.commits).items():
        if not matches_any(settings.github_paths, path):
            continue
        try:
            document = read_document_id(f"{name}/{path}", place)
        except ApiError as error:
            found.refuse(place, error)
            continue
        found.wanted.append(_wanted(push, document, path, change, digest))
    return found


Change = Literal["saved", "removed"]


def changes(commits: list[Commit]) -> dict[str, tuple[Change, str]]:
    """What became of each path in the end, and where that stands in the notification. Of a file that was renamed the
    old path is removed and the new one added."""
    found: dict[str, tuple[Change, str]] = {}
    for index, commit in enumerate(commits):
        for kind, paths in (("removed", commit.removed), ("added", commit.added), ("modified", commit.modified)):
            for place, path in enumerate(paths):
                change: Change = "removed" if kind == "removed" else "saved"
                found[path] = (change, f"/commits/{index}/{kind}/{place}")
    return found


def _wanted(push: Push, document: str, path: str, change: Change, digest: str) -> Wanted:
    repository, pushed_at = push.repository.full_name, push.repository.pushed_at
    saved = change == "saved"
    return Wanted(
        document=document,
        action="compile" if saved else "retire",
        reference=GithubReference(repository=repository, commit=push.after, path=path) if saved else None,
        source=f"github:{repository}",
        revision=push.after,
        rank=numbered(str(pushed_at)) if isinstance(pushed_at, int) else "",
        key=once("github", digest, document),
    )
