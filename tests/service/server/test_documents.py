"""Saving, showing, listing and retiring documents over HTTP."""

from __future__ import annotations

import json

import pytest

from .running import BAD, Running, problem, text


def test_a_saved_document_is_compiled_and_shown(running: Running, document: str) -> None:
    """PUT answers 202 with a job; when it has ended, the job has its result and the document its files."""
    client = running.as_token()
    answer = client.put(f"/v1/documents/{document}", content=text())
    assert answer.status_code == 202
    saved = answer.json()
    assert saved["status"] == "accepted"
    assert saved["document_id"] == document
    assert answer.headers["location"] == saved["job"] == f"/v1/jobs/{saved['job_id']}"

    waiting = client.get(saved["job"]).json()
    assert (waiting["state"], waiting["result"]) == ("queued", None)
    running.compile_all()

    job = client.get(saved["job"]).json()
    assert (job["state"], job["ended"], job["sequence"]) == ("succeeded", True, 1)
    assert job["result"]["status"] == "succeeded"
    assert {stage["stage"] for stage in job["stages"]} == {"parse", "resolve", "generate", "link", "verify"}
    assert set(job["took_ms"]) == {"parse", "resolve", "generate", "verify"}

    shown = client.get(f"/v1/documents/{document}").json()
    assert (shown["state"], shown["name"], shown["published"]["sequence"]) == ("succeeded", "月次", 1)
    assert shown["latest"]["job_id"] == saved["job_id"]
    module = client.get(f"/v1/documents/{document}/procedure.py")
    assert module.headers["content-type"] == "text/x-python; charset=utf-8"
    compile(module.text, "procedure.py", "exec")
    manifest = client.get(f"/v1/documents/{document}/manifest.json").json()
    assert manifest["document"]["name"] == "月次"
    assert client.get(f"/v1/documents/{document}/source.md").text == text()
    assert client.get(f"/v1/documents/{document}/result.json").json() == job["result"]
    again = client.get(f"/v1/documents/{document}/procedure.py", headers={"if-none-match": module.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_what_a_catalog_made_stale_says_so(running: Running, document: str) -> None:
    """A document that a changed catalog would change tells why, in R3's words, until it is compiled again."""
    client = running.as_token()
    client.put(f"/v1/documents/{document}", content=text())
    running.compile_all()
    assert client.get(f"/v1/documents/{document}").json()["stale"] == []

    running.service.recompiles.mark_stale({document: ["tool-schema", "tool-added"]})
    assert client.get(f"/v1/documents/{document}").json()["stale"] == ["tool-schema", "tool-added"]
    (listed,) = client.get("/v1/documents", params={"prefix": document}).json()["documents"]
    assert listed["stale"] == ["tool-schema", "tool-added"]

    client.put(f"/v1/documents/{document}", content=text() + "\n")
    running.compile_all()
    assert client.get(f"/v1/documents/{document}").json()["stale"] == []


def test_the_last_good_version_stays_published(running: Running, document: str) -> None:
    """A newer save that fails leaves what was published before; its job has the diagnostics, in the asked language."""
    client = running.as_token()
    client.put(f"/v1/documents/{document}", content=text())
    running.compile_all()
    failed = client.put(f"/v1/documents/{document}", content=text(body=BAD)).json()
    running.compile_all()

    job = client.get(failed["job"]).json()
    assert (job["state"], job["result"]["status"]) == ("failed", "failed")
    english = job["result"]["diagnostics"][0]["message"]
    japanese = client.get(failed["job"], headers={"accept-language": "ja,en;q=0.5"}).json()
    assert japanese["result"]["diagnostics"][0]["message"] != english
    shown = client.get(f"/v1/documents/{document}").json()
    assert (shown["state"], shown["sequence"], shown["published"]["sequence"]) == ("failed", 2, 1)
    assert client.get(f"/v1/documents/{document}/procedure.py").status_code == 200


def test_retiring_takes_a_document_away(running: Running, document: str) -> None:
    """DELETE answers with a job; then there is no procedure, the history stays, and the audit log says who."""
    client = running.as_token()
    assert problem(client.delete(f"/v1/documents/{document}")) == (404, "not_found", {})
    client.put(f"/v1/documents/{document}", content=text())
    running.compile_all()
    retired = client.delete(f"/v1/documents/{document}")
    assert retired.status_code == 202
    running.compile_all()

    assert problem(client.get(f"/v1/documents/{document}/procedure.py"))[:2] == (404, "not_found")
    shown = client.get(f"/v1/documents/{document}").json()
    assert (shown["state"], shown["published"], shown["retired"]) == ("retired", None, True)
    saves = client.get(f"/v1/documents/{document}/history").json()["saves"]
    assert [save["action"] for save in saves] == ["retire", "compile"]
    from workers.audit import Audit

    entry = next(entry for entry in Audit(running.service.backend.store).entries(1_000) if entry.target == document)
    assert (entry.action, entry.actor_name) == ("document.retire", "test")


def test_an_idempotency_key_makes_one_job(running: Running, document: str) -> None:
    """The same request again, with its key: the same answer, byte for byte, and no second job."""
    client = running.as_token()
    sent = {"url": f"/v1/documents/{document}", "content": text(), "headers": {"idempotency-key": "a key"}}
    first = client.put(**sent)
    before = running.jobs()
    assert client.put(**sent).content == first.content
    running.compile_all()
    assert client.put(**sent).content == first.content
    assert running.jobs() == before
    assert running.as_token().put(**sent).json()["job_id"] != first.json()["job_id"], "another token's key is another"


def test_a_trace_goes_along(running: Running, document: str) -> None:
    """The W3C traceparent of a request is its save's, so that all stages belong to one trace; nonsense is not."""
    client = running.as_token()
    good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    for number, (given, kept) in enumerate(
        [(good, good), ("x" * 5_000, ""), ("00-zz-zz-01", ""), (good + "-x", "")], 1
    ):
        client.put(f"/v1/documents/{document}", content=f"# {number}\n", headers={"traceparent": given})
        save = running.service.backend.archive.save(document, number)
        assert save is not None
        assert save.trace == kept


def test_an_older_revision_is_superseded(running: Running, document: str) -> None:
    """Of one source only the newest revision wins; the late one is answered 202 `superseded`, again as well."""
    client = running.as_token()

    def put(revision: int) -> dict[str, object]:
        answer = client.put(f"/v1/documents/{document}?revision={revision}&source=wiki", content=text(str(revision)))
        assert answer.status_code == 202
        found: dict[str, object] = answer.json()
        return found

    assert put(10)["status"] == "accepted"
    late = put(9)
    assert late["status"] == "superseded"
    assert put(10)["status"] == "accepted"
    running.compile_all()
    assert client.get(f"/v1/documents/{document}").json()["name"] == "10"


def test_pages_of_documents(running: Running, document: str) -> None:
    """Lists are sorted by id, and go on after the last one; prefix and state narrow them."""
    client = running.as_token()
    names = [f"{document}/{number}" for number in range(5)]
    for name in names:
        client.put(f"/v1/documents/{name}", content=text(body=BAD if name.endswith("3") else "# {name}\n"))
    running.compile_all()
    seen: list[str] = []
    after = ""
    while True:
        page = client.get("/v1/documents", params={"prefix": document, "limit": 2, "after": after}).json()
        assert len(page["documents"]) <= 2
        seen += [entry["document_id"] for entry in page["documents"]]
        after = page["next"]
        if after is None:
            break
    assert seen == names
    failed = client.get("/v1/documents", params={"prefix": document, "state": "failed"}).json()
    assert [entry["document_id"] for entry in failed["documents"]] == [names[3]]
    assert failed["next"] is None
    assert problem(client.get("/v1/documents", params={"limit": 0}))[2]["path"] == "query.limit"
    assert problem(client.get("/v1/documents", params={"limt": 1}))[2]["path"] == "query.limt"
    assert problem(client.get("/v1/documents?limit=1&limit=2"))[2]["path"] == "query.limit"


def test_history_and_diff(running: Running, document: str) -> None:
    """Saves are listed with their outcome, the newest first; two of them are compared as `aop diff` does."""
    client = running.as_token()
    texts = [text(), text().replace("sandbox", "sandbox, slack"), text(body=BAD), text().replace("sandbox", "slack")]
    for content in texts:
        client.put(f"/v1/documents/{document}", content=content)
        running.compile_all()
    page = client.get(f"/v1/documents/{document}/history", params={"limit": 3}).json()
    assert [save["sequence"] for save in page["saves"]] == [4, 3, 2]
    assert [save["outcome"]["status"] for save in page["saves"]] == ["succeeded", "failed", "succeeded"]
    assert page["saves"][2]["outcome"]["tools"] == ["sandbox", "slack"]
    rest = client.get(f"/v1/documents/{document}/history", params={"before": page["next"]}).json()
    assert [save["sequence"] for save in rest["saves"]] == [1]
    assert rest["next"] is None

    diff = client.get(f"/v1/documents/{document}/diff", params={"from": 1, "to": 4}).json()
    assert (diff["old"]["sequence"], diff["new"]["sequence"]) == (1, 4)
    changed = {tool["tool"]: (bool(tool["old"]), bool(tool["new"])) for tool in diff["phases"][0]["tools"]}
    assert changed == {"sandbox": (True, False), "slack": (False, True)}
    assert client.get(f"/v1/documents/{document}/diff").json()["old"]["sequence"] == 2, "the newest that compiled"
    appeared = client.get(f"/v1/documents/{document}/diff", params={"from": 2, "to": 3}).json()["diagnostics"]
    assert [found["severity"] for found in appeared["appeared"]] == ["error"]
    assert problem(client.get(f"/v1/documents/{document}/diff", params={"from": 1, "to": 9})) == (
        404,
        "not_found",
        {"sequence": 9},
    )
    assert problem(client.get(f"/v1/documents/{document}/diff", params={"from": "x"}))[2]["path"] == "query.from"


@pytest.mark.parametrize("name", ["history", "diff", "procedure.py"])
def test_an_id_may_end_as_a_view_is_called(running: Running, document: str, name: str) -> None:
    """Its last slash is encoded then; what is written plainly is the view."""
    client = running.as_token()
    client.put(f"/v1/documents/{document}/{name}", content=text())
    running.compile_all()
    assert client.get(f"/v1/documents/{document}%2F{name}").json()["document_id"] == f"{document}/{name}"
    assert problem(client.get(f"/v1/documents/{document}/{name}"))[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "a/../b",
        "..%2Fetc",
        "%2e%2e/x",
        "a/%2E%2E/x",
        "%252e%252e",
        "a//b",
        "a/./b",
        "",
        "a/",
        "%00",
        "a%00b",
        "%E2%80%AEgnp.md",
        "a%E2%80%8Bb",
        "a%0Ab",
        "a%5Cb",
        "a%ED%A0%80",
        "%FF",
        "a%20b",
        "x" * 513,
        "%E3%81%82" * 171,
    ],
)
def test_ids_that_try_to_be_something_else(running: Running, path: str) -> None:
    """None of them leaves its place: 400 (or 404 where a URL says nothing of a document), and nothing is saved."""
    before = running.jobs()
    client = running.as_token()
    from http.client import HTTPConnection

    raw = HTTPConnection("127.0.0.1", running.server.port, timeout=120)  # sends the path as it is
    raw.request(
        "PUT", f"/v1/documents/{path}", body=b"# x\n", headers={"authorization": client.headers["authorization"]}
    )
    answer = raw.getresponse()
    body = json.loads(answer.read())
    assert (answer.status, body["code"]) in {(400, "invalid_input"), (404, "not_found")}
    assert running.jobs() == before
    raw.close()


def test_the_longest_id(running: Running, document: str) -> None:
    """512 bytes of UTF-8 are allowed, in any script, and the composed form of a letter is the same document."""
    client = running.as_token()
    longest = "あ" * 170 + "xy"
    assert client.put(f"/v1/documents/{longest}", content="# x\n").json()["document_id"] == longest
    decomposed = f"{document}/か\u3099"
    assert client.put(f"/v1/documents/{decomposed}", content="# x\n").json()["document_id"] == f"{document}/が"


def test_tools(running: Running) -> None:
    """What the current catalog offers, all of it and one by one."""
    client = running.as_token("catalog:read")
    listed = client.get("/v1/tools").json()
    assert "slack" in {tool["name"] for tool in listed["tools"]}
    tool = client.get("/v1/tools/Slack").json()
    assert (tool["name"], tool["catalog"]) == ("slack", listed["catalog"])
    assert {operation["effect"] for operation in tool["operations"]} == {"read", "write"}
    assert problem(client.get("/v1/tools/slacks"))[:2] == (404, "not_found")


def test_unknown_places(running: Running) -> None:
    """Whatever is not there is told in the one form, without a token as well."""
    assert problem(running.client.get("/v2/documents"))[:2] == (404, "not_found")
    assert problem(running.client.post("/v1/documents"))[:2] == (405, "invalid_input")
