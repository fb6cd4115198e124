"""Tokens: what each scope opens, patterns of documents, expiry, revoking, and that nothing secret is kept or logged."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from redis import Redis

from pipeline.stores.memory import MemoryStore
from workers.globs import matches_any
from workers.logs import Masking
from workers.token_uses import Uses
from workers.tokens import SCOPES, TokenFault, TokenRefused, Tokens

from .running import Running, problem

ENTRANCES = [
    ("GET", "/v1/documents", "documents:read"),
    ("GET", "/v1/documents/none", "documents:read"),
    ("GET", "/v1/documents/none/procedure.py", "documents:read"),
    ("GET", "/v1/documents/none/manifest.json", "documents:read"),
    ("GET", "/v1/documents/none/source.md", "documents:read"),
    ("GET", "/v1/documents/none/history", "documents:read"),
    ("GET", "/v1/documents/none/diff", "documents:read"),
    ("GET", "/v1/jobs/none", "documents:read"),
    ("GET", "/v1/jobs/none/events", "documents:read"),
    ("PUT", "/v1/documents/scoped", "documents:compile"),
    ("DELETE", "/v1/documents/none", "documents:delete"),
    ("POST", "/v1/hooks/s3", "webhooks"),
    ("GET", "/v1/tools", "catalog:read"),
    ("GET", "/v1/tools/none", "catalog:read"),
]


@pytest.mark.parametrize(("method", "path", "scope"), ENTRANCES)
def test_each_entrance_wants_its_scope(running: Running, method: str, path: str, scope: str) -> None:
    """With all other scopes: 403, which names the one that is missing. With it alone: not 401 or 403."""
    others = [other for other in SCOPES if other != scope]
    status, code, details = problem(running.as_token(*others).request(method, path, content=b"{}"))
    assert (status, code, details["missing_scope"]) == (403, "forbidden", scope)
    assert running.as_token(scope).request(method, path, content=b"{}").status_code not in (401, 403)
    assert problem(running.client.request(method, path))[:2] == (401, "unauthorized")


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({}, "no-token"),
        ({"authorization": "Basic dXNlcjpw"}, "scheme"),
        ({"authorization": "Bearer"}, "no-token"),
        ({"authorization": "Bearer aop_short"}, "malformed"),
        ({"x-api-token": "aop_0123456789abcdef_"}, "malformed"),
        ({"x-api-token": "aop_0123456789abcdef_" + "x" * 43}, "unknown"),
        ({"authorization": "Bearer a", "x-api-token": "b"}, "two-tokens"),
    ],
)
def test_what_is_wrong_with_a_token(running: Running, headers: dict[str, str], reason: str) -> None:
    """401 says it."""
    answer = running.client.get("/v1/documents", headers=headers)
    assert problem(answer) == (401, "unauthorized", {"reason": reason})
    assert answer.headers["www-authenticate"].startswith("Bearer ")


def test_both_headers(running: Running) -> None:
    """A token comes in either, or as the same in both."""
    token = running.token()
    for headers in ({"x-api-token": token}, {"authorization": f"bearer {token}", "x-api-token": token}):
        assert running.client.get("/v1/documents", headers=headers).status_code == 200


def test_a_wrong_secret_tells_nothing(running: Running) -> None:
    """Whether there is a token of that id, or that it was revoked, is told to nobody without its secret."""
    token = running.token()
    wrong = token[:-1] + ("A" if token[-1] != "A" else "B")
    assert problem(running.as_text(wrong).get("/v1/documents"))[2] == {"reason": "unknown"}
    running.tokens.revoke(token.split("_")[1])
    assert problem(running.as_text(wrong).get("/v1/documents"))[2] == {"reason": "unknown"}
    assert problem(running.as_text(token).get("/v1/documents"))[2] == {"reason": "revoked"}


def test_revoking_works_at_once(running: Running) -> None:
    """The next request is refused, though the copy in Redis was fresh."""
    token = running.token()
    client = running.as_text(token)
    assert client.get("/v1/documents").status_code == 200
    assert running.tokens.revoke(token.split("_")[1]) is not None
    assert problem(client.get("/v1/documents"))[2] == {"reason": "revoked"}


def test_expiry(running: Running) -> None:
    """A token is good until its time, to the ms."""
    token = running.token(expires_ms=int(time.time() * 1_000) + 60_000)
    found = running.tokens.authenticate(token)
    assert found.expires_ms
    running.tokens.authenticate(token, found.expires_ms - 1)
    with pytest.raises(TokenRefused, match="expired"):
        running.tokens.authenticate(token, found.expires_ms)
    with pytest.raises(TokenFault):
        running.token(expires_ms=1)


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["everything"]}, "scopes"),
        ({"documents": [""]}, "documents"),
        ({"documents": ["x"] * 1 + [f"x{number}" for number in range(20)]}, "documents"),
    ],
)
def test_tokens_that_cannot_be_made(running: Running, arguments: dict[str, object], field: str) -> None:
    """The fault names the field."""
    given: dict[str, object] = {"name": "x", "scopes": ["admin"], **arguments}
    with pytest.raises(TokenFault) as fault:
        running.tokens.create(**given)  # type: ignore[arg-type]  # wrong ones are the point
    assert fault.value.field == field


def test_documents_of_a_token(running: Running, document: str) -> None:
    """Beyond its patterns a token neither reads nor writes nor sees, and is told the same whether there is one."""
    owner = running.as_token()
    hidden, own = f"{document}/hidden", f"{document}/own"
    job = owner.put(f"/v1/documents/{hidden}", content="# 秘密\n").json()["job_id"]
    client = running.as_token(documents=[f"{document}/own", f"{document}/own/**"])
    assert client.put(f"/v1/documents/{own}", content="# x\n").status_code == 202

    for path in ("", "/procedure.py", "/source.md", "/history", "/diff"):
        there = client.get(f"/v1/documents/{hidden}{path}")
        not_there = client.get(f"/v1/documents/{hidden}-not{path}")
        assert problem(there)[:2] == (403, "forbidden")
        assert there.content == not_there.content
    assert problem(client.put(f"/v1/documents/{hidden}", content="# x\n"))[0] == 403
    assert problem(client.delete(f"/v1/documents/{hidden}"))[0] == 403
    unknown = client.get(f"/v1/jobs/{'0' * 27}")
    for path in ("", "/events"):
        assert problem(client.get(f"/v1/jobs/{job}{path}"))[:2] == (404, "not_found")
    assert client.get(f"/v1/jobs/{job}").content == unknown.content
    listed = client.get("/v1/documents", params={"prefix": document}).json()
    assert [entry["document_id"] for entry in listed["documents"]] == [own]
    assert listed["next"] is None


@pytest.mark.parametrize(
    ("pattern", "id", "fits"),
    [
        ("sales/**", "sales/a/b", True),
        ("sales/**", "sales", True),
        ("sales/**", "salesman/a", False),
        ("sales/*", "sales/a", True),
        ("sales/*", "sales/a/b", False),
        ("*", "a", True),
        ("*", "a/b", False),
        ("**", "a/b/c", True),
        ("**/*.md", "a.md", True),
        ("**/*.md", "a/b/c.md", True),
        ("**/x/**/y", "a/x/b/x/c/y", True),
        ("a/**/z", "a/z", True),
        ("a/**/z", "a/b/c", False),
        ("営業/**", "営業/月次", True),
        ("A", "a", False),
    ],
)
def test_patterns(pattern: str, id: str, fits: bool) -> None:
    """One star stays in its segment, two cross them."""
    assert matches_any([pattern], id) is fits


def test_patterns_take_bounded_time() -> None:
    """However they are written: a match asks no more than pattern times text, where trying all ways takes years."""
    pattern = "/".join(["**", "*a*b*"] * 20)
    id = "/".join(["ab" * 3] * 70)
    started = time.process_time()
    matches_any([f"{pattern}/z"], id)
    assert time.process_time() - started < 30


def test_nothing_secret_is_kept(running: Running, redis: Redis) -> None:
    """Neither the store nor Redis holds a token's secret; logs mask it wherever it stands."""
    token = running.token(name="kept")
    running.as_text(token).get("/v1/documents")
    identity, secret = token.split("_", 2)[1:]
    store = running.service.backend.store
    kept = [store.get_pointer(name) or b"" for name in store.pointer_names("")]
    assert any(identity.encode() in value for value in kept)
    assert not any(secret.encode() in value for value in kept)
    copy = redis.get(f"{running.settings.redis_prefix}:token:{identity}")
    assert isinstance(copy, str)
    assert secret not in copy
    line = Masking(())(None, "info", {"event": f"token {token} of", "headers": [{"Authorization": f"Bearer {token}"}]})
    assert secret not in str(line)


def test_a_token_survives_the_loss_of_redis(running: Running, redis: Redis) -> None:
    """The store decides: what Redis forgets is read again, revocations too."""
    good, revoked = running.token(), running.token()
    running.tokens.revoke(revoked.split("_")[1])
    for token in (good, revoked):
        redis.delete(f"{running.settings.redis_prefix}:token:{token.split('_')[1]}")
    assert running.as_text(good).get("/v1/documents").status_code == 200
    assert problem(running.as_text(revoked).get("/v1/documents"))[2] == {"reason": "revoked"}


def test_a_late_copy_does_not_undo_a_revocation(redis: Redis) -> None:
    """A server that read the record before it was revoked, and puts its copy into Redis afterwards."""
    store = MemoryStore()

    class Slow(MemoryStore):
        """Revokes between reading and answering."""

        def get_pointer(self, name: str) -> bytes | None:
            found = store.get_pointer(name)
            if name.startswith("token/"):
                other.revoke(identity)
            return found

    other = Tokens(store, redis, "late-copy")
    token, words = other.create(name="x", scopes=["admin"])
    identity = token.id
    with pytest.raises(TokenRefused, match="revoked"):
        Tokens(Slow(), redis, "late-copy").authenticate(words)


def test_uses_are_counted(redis: Redis) -> None:
    """In memory first, then added up in the store, by any number of processes."""
    store = MemoryStore()
    counted = (Uses(), Uses())
    first, second = (Tokens(store, redis, "uses", uses) for uses in counted)
    token, words = first.create(name="x", scopes=["admin"])
    for number in range(3):
        first.authenticate(words, 1_000 + number)
    second.authenticate(words, 900)
    for uses in counted:
        uses.flush(store)
        uses.flush(store)
    ((shown, use),) = Tokens(store, redis, "uses").all()
    assert (shown, use.count, use.last_ms) == (token, 4, 1_002)


def test_names_of_hidden_documents_are_masked(running: Running, document: str) -> None:
    """A cycle, and candidates for a name that does not exist, name other documents: not those beyond the patterns."""
    owner = running.as_token()
    own, hidden = f"{document}/own.md", f"{document}/hidden.md"
    call = "# {name}\n\n## フェーズ 1: 呼ぶ\n\n(呼び出す AOP: {callee})\n"
    owner.put(f"/v1/documents/{hidden}", content=call.format(name="極秘の人事評価", callee="受付窓口"))
    running.compile_all()
    cycle = owner.put(f"/v1/documents/{own}", content=call.format(name="受付窓口", callee="極秘の人事評価")).json()
    running.compile_all()
    other = f"{document}/other.md"
    near = owner.put(f"/v1/documents/{other}", content=call.format(name="別", callee="極秘の人事評定")).json()
    running.compile_all()

    limited = running.as_token("documents:read", documents=[own, other])
    for job, name in ((cycle, "call-cycle"), (near, "call-unknown")):
        (full,) = owner.get(job["job"]).json()["result"]["diagnostics"]
        assert full["name"] == name
        assert "極秘の人事評価" in str(full)
    (seen,) = limited.get(near["job"]).json()["result"]["diagnostics"]
    assert "極秘の人事評価" not in str(seen)
    assert "極秘の人事評定" in seen["message"], "what the document itself says may be read"
    assert seen["suggestions"] == ["***"]
    (seen,) = limited.get(cycle["job"]).json()["result"]["diagnostics"]
    assert "受付窓口" in seen["message"], "its own name"


def test_every_answer_stays_in_its_time(run: Callable[..., Running]) -> None:
    """A wrong token costs the wrong one's address its rate, not those who have a good one."""
    small = run(rate_per_minute=1, rate_burst=3)
    wrong = small.as_text("aop_0123456789abcdef_" + "x" * 43)
    statuses = [wrong.get("/v1/documents").status_code for _ in range(5)]
    assert statuses[:3] == [401, 401, 401]
    assert set(statuses[3:]) == {429}
    assert small.as_token().get("/v1/documents").status_code == 200
