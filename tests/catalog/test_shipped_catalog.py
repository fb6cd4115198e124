"""The data that comes with the program."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import jsonschema
import jsonschema_rs
import pytest

from catalog.load import SHIPPED, load_catalog
from catalog.model import Operation, Tool
from catalog.snapshot import Catalog
from catalog.words import loose
from tests.work import calls


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    return load_catalog()


GUIDE: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("google_workspace", "mcp", ("calendar", "docs", "drive", "gmail", "sheets")),
    ("slack", "mcp", ("notify", "history", "channels")),
    ("exa", "mcp", ("web", "crawl", "research")),
    ("bigquery", "mcp", ("query", "tables")),
    ("freee", "http", ("deals", "invoices", "quotations", "partners", "expenses", "journals", "reports")),
)


@pytest.mark.parametrize(("name", "kind", "categories"), GUIDE)
def test_the_categories_that_the_guide_and_the_examples_use(
    shipped: Catalog, name: str, kind: str, categories: tuple[str, ...]
) -> None:
    """Procedures are written with these words: they must not go away."""
    tool = _tool(shipped, name)
    assert tool.kind == kind
    assert set(categories) <= {category.name for category in tool.categories}


NAMES = [
    "airtable",
    "asana",
    "backlog",
    "bigquery",
    "box",
    "chatwork",
    "confluence",
    "exa",
    "figma",
    "freee",
    "freee_hr",
    "freee_sales",
    "freee_sign",
    "github",
    "gitlab",
    "google_analytics",
    "google_workspace",
    "hubspot",
    "jira",
    "kintone",
    "line",
    "linear",
    "microsoft_365",
    "monday",
    "notion",
    "postgres",
    "raxel",
    "salesforce",
    "salesforce_records",
    "slack",
    "trello",
    "zoom",
]


def test_the_connectors(shipped: Catalog) -> None:
    """What Japanese back offices and engineering teams use, where a public source lists the operations."""
    assert sorted(tool.name for tool in shipped.tools() if tool.kind != "standard") == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_connector_has_categories_and_each_of_them_operations(shipped: Catalog, name: str) -> None:
    """A phase can ask for what it needs and no more (T7)."""
    tool = _tool(shipped, name)
    assert len(tool.categories) >= 2
    assert {operation.category for operation in _operations(tool)} == {category.name for category in tool.categories}


def test_the_standard_tools(shipped: Catalog) -> None:
    """T8: what their words allow, and the option of the browser."""
    names = {tool.name for tool in shipped.tools() if tool.kind == "standard"}
    assert names == {"browser", "sandbox", "hitl", "添付ファイル"}
    browser = _tool(shipped, "browser")
    assert browser.options == ("profile",)
    assert dict(browser.grants) == {
        "read": ("read", "navigation"),
        "navigation": ("navigation",),
        "interact": ("read", "navigation", "interact"),
    }


def test_one_file_a_tool(shipped: Catalog) -> None:
    """So that a change of one is seen as a change of one."""
    assert len(list(SHIPPED.glob("*.yaml"))) == len(shipped.tools())


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_that_the_source_lists_is_there(shipped: Catalog, name: str) -> None:
    """Nothing is invented and nothing chosen: the noted count is that of the operations and of those left out, with
    the reason."""
    tool = _tool(shipped, name)
    source = json.loads(tool.definition)["source"]
    assert source["url"].startswith("https://")
    assert date.fromisoformat(source["date"]) >= date(2026, 11, 1)
    left_out = source.get("left_out", [])
    assert source["operations"] == len(_operations(tool)) + len(left_out)
    assert not set(left_out) & {operation.name for operation in _operations(tool)}
    assert not left_out or "Left out:" in source["note"]


@pytest.mark.parametrize("name", NAMES)
def test_a_connector_says_where_its_server_is(shipped: Catalog, name: str) -> None:
    """Or how it is started; of its credentials only the names."""
    server = json.loads(_tool(shipped, name).definition)["server"]
    assert server.get("url") or server.get("command")
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]+", credential) for credential in server.get("credentials", ()))


WITHOUT_SCHEMA = {"raxel", "zoom"}
"""Their sources give names and permissions, but no schema for some operations or all."""


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_is_described_and_has_a_valid_schema(shipped: Catalog, name: str) -> None:
    """Draft 2020-12, an object, its required arguments declared, names that every model provider accepts."""
    for operation in _operations(_tool(shipped, name)):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", operation.name), operation.name
        assert operation.description.strip(), operation.name
        if name in WITHOUT_SCHEMA and not operation.schema:
            assert json.loads(operation.definition)["permission"], operation.name
            continue
        schema = json.loads(operation.schema)
        jsonschema_rs.meta.validate(schema)
        assert schema["type"] == "object", operation.name
        assert set(schema.get("required", ())) <= set(schema["properties"]), operation.name


def test_what_a_schema_refers_to_is_in_it(shipped: Catalog) -> None:
    """What recurs is a reference, and a schema is kept alone: with all that it needs."""
    for tool in shipped.tools():
        for operation in _operations(tool) if tool.kind != "standard" else ():
            schema = json.loads(operation.schema or "{}")
            for reference in set(re.findall(r'"\$ref":"(#[^"]*)"', operation.schema)):
                found = schema
                for step in reference.split("/")[1:]:
                    found = found[int(step)] if isinstance(found, list) else found[step]
                assert isinstance(found, dict), (operation.name, reference)


RECIPIENT = "toRecipients", "emailAddress", "address"
"""Of a mail: three levels below the body's members, which a shortened schema would not reach."""


@pytest.mark.parametrize(("address", "fits"), [("tanaka@example.jp", True), (81, False)])
def test_a_schema_reaches_as_deep_as_the_source_s(shipped: Catalog, address: str | int, fits: bool) -> None:
    """Microsoft Graph's objects are deep, and a wrong value is refused before it is sent."""
    operation = next(each for each in _operations(_tool(shipped, "microsoft_365")) if each.name == "send-mail")
    recipients, mail, name = RECIPIENT
    body = {"Message": {"subject": "見積書", recipients: [{mail: {name: address}}]}}
    assert jsonschema.Draft202012Validator(json.loads(operation.schema)).is_valid({"body": body}) is fits


GUIDES = "create_"
"""Salesforce's developer tools of this prefix return texts that help to write code, and are marked as reading."""


def test_names_that_sound_like_writing_write(shipped: Catalog) -> None:
    """T7: an operation that changes something must not pass as a read."""
    writing = re.compile(
        r"(^|[_-])(create|update|delete|destroy|send|add|remove|manage|modify|insert|import|cancel|set|move|archive"
        r"|submit|upload|merge(?!_request)|assign|approve|deploy|purge|post|put)([_A-Z-]|$)"
    )
    suspicious = [
        f"{tool.name} {operation.name}"
        for tool in shipped.tools()
        for operation in _operations(tool)
        if operation.effect == "read"
        and writing.search(operation.name)
        and not (tool.name == "salesforce" and operation.name.startswith(GUIDES))
    ]
    assert suspicious == [
        "jira jira_get_create_fields",
        "kintone kintone-get-app-deploy-status",
        "notion API-post-search",  # sent by POST, documented as a search
        "raxel preview_record_import",  # "writes nothing"
    ]


def test_http_operations_say_how_they_are_called(shipped: Catalog) -> None:
    """Only GET reads, every argument of a path is required, and one that is not a body's is said to be."""
    for tool in shipped.tools():
        if tool.kind != "http":
            continue
        for operation in _operations(tool):
            definition = json.loads(operation.definition)
            assert (operation.effect == "read") == (definition["method"] == "GET"), operation.name
            required = json.loads(operation.schema).get("required", ())
            assert set(re.findall(r"\{(\w+)\}", definition["path"])) <= set(required), operation.name


def test_hints_lead_to_one_tool_each(shipped: Catalog) -> None:
    """T5: a word that people use at work means one tool, or one category of a tool."""
    meant: dict[str, set[str]] = {}
    for tool in shipped.tools():
        for word in (tool.name, tool.title, *tool.hints):
            meant.setdefault(loose(word), set()).add(tool.name)
        for category in tool.categories:
            for word in (category.title, *category.hints):
                meant.setdefault(loose(word), set()).add(tool.name)
    assert {word: sorted(tools) for word, tools in meant.items() if len(tools) > 1} == {}


RECEIVERS: tuple[tuple[str, str, bool, str, str], ...] = (
    ("bigquery", "query", True, "execute_sql_readonly", "query"),
    ("bigquery", "query", False, "execute_sql", "query"),
    ("slack", "notify", False, "conversations_add_message", "text"),
    ("google_workspace", "docs", False, "create_doc", "content"),
    ("google_workspace", "gmail", False, "draft_gmail_message", "body"),
    ("google_workspace", "drive", False, "create_drive_file", "content"),
    ("exa", "research", True, "agent_run", "query"),
    ("github", "repos", False, "create_or_update_file", "content"),
    ("github", "issues", False, "issue_write", "body"),
    ("backlog", "issues", False, "add_issue", "description"),
    ("backlog", "wiki", False, "add_wiki", "content"),
    ("jira", "issues", True, "jira_search", "jql"),
    ("jira", "issues", False, "jira_create_issue", "description"),
    ("confluence", "pages", False, "confluence_create_page", "content"),
    ("linear", "issues", False, "linear_createIssue", "description"),
    ("postgres", "sql", True, "explain_query", "sql"),
    ("postgres", "sql", False, "execute_sql", "sql"),
    ("salesforce", "data", True, "run_soql_query", "query"),
    ("box", "files", False, "box_file_upload_tool", "content"),
    ("zoom", "docs", False, "create_new_file_with_markdown", "content"),
)


@pytest.mark.parametrize(("name", "category", "read_only", "operation", "argument"), RECEIVERS)
def test_a_category_that_takes_text_has_exactly_one_operation_for_it(
    shipped: Catalog, name: str, category: str, read_only: bool, operation: str, argument: str
) -> None:
    """V4: so that a fence can be handed over without saying more."""
    found = [
        (entry.name, entry.text_argument)
        for entry in _operations(_tool(shipped, name))
        if entry.category == category and entry.text_argument and (entry.effect == "read") == read_only
    ]
    assert found == [(operation, argument)]


def test_no_scope_leaves_open_which_operation_receives_a_text(shipped: Catalog) -> None:
    """V4: within one category and effect at most one, so that a fence handed to the category has one place to go."""
    for tool in shipped.tools():
        scopes = [(entry.category, entry.effect) for entry in _operations(tool) if entry.text_argument]
        assert len(scopes) == len(set(scopes)), tool.name


def test_loading_it_is_little_work(tmp_path: Path) -> None:
    """Compiled, with a tool of it: a few thousand calls of functions, which are a millisecond or two."""
    load_catalog(cache_dir=tmp_path)
    assert calls(lambda: load_catalog(cache_dir=tmp_path).tool("slack")) < 6_000


@pytest.mark.parametrize("forbidden", [False, True])
def test_it_is_compiled_beside_the_data_where_python_may_write(tmp_path: Path, forbidden: bool) -> None:
    """Like .pyc files: so it is fast without a cache folder, and PYTHONDONTWRITEBYTECODE is honoured."""
    shutil.copytree(SHIPPED.parent, tmp_path / "catalog", ignore=shutil.ignore_patterns("__pycache__"))
    program = "from catalog.load import load_catalog; print(load_catalog().digest)"
    environment = {"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(tmp_path)}
    if forbidden:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=True
    )
    assert done.stdout.decode().strip() == load_catalog().digest
    assert len(list((tmp_path / "catalog" / "data").rglob("catalog-*.jsonl"))) == (0 if forbidden else 1)


def _tool(catalog: Catalog, name: str) -> Tool:
    tool = catalog.tool(name)
    assert tool is not None
    return tool


def _operations(tool: Tool) -> tuple[Operation, ...]:
    assert tool.operations is not None
    return tool.operations
