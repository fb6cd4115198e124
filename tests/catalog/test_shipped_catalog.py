"""The data that comes with the program."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from catalog.load import SHIPPED, load_catalog
from catalog.model import Operation, Tool
from catalog.snapshot import Catalog


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    return load_catalog()


CONNECTORS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("google_workspace", "mcp", ("calendar", "docs", "drive", "gmail", "sheets")),
    ("slack", "mcp", ("notify", "history", "channels", "reactions", "groups", "saved")),
    ("exa", "mcp", ("web", "crawl", "research")),
    ("bigquery", "mcp", ("query", "tables")),
    (
        "freee",
        "http",
        (
            "deals",
            "invoices",
            "quotations",
            "partners",
            "expenses",
            "receipts",
            "wallets",
            "journals",
            "reports",
            "master",
        ),
    ),
)


@pytest.mark.parametrize(("name", "kind", "categories"), CONNECTORS)
def test_a_connector_has_its_categories(shipped: Catalog, name: str, kind: str, categories: tuple[str, ...]) -> None:
    """Each of them with operations."""
    tool = _tool(shipped, name)
    assert (tool.kind, tuple(category.name for category in tool.categories)) == (kind, categories)
    assert {operation.category for operation in _operations(tool)} == set(categories)


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


@pytest.mark.parametrize("name", [name for name, _, _ in CONNECTORS])
def test_every_connector_names_its_source(shipped: Catalog, name: str) -> None:
    """Nothing is invented: where names and schemas come from, when they were looked up, and where the server is."""
    tool = _tool(shipped, name)
    definition = json.loads(tool.definition)
    assert definition["source"]["url"].startswith("https://")
    assert date.fromisoformat(definition["source"]["date"]) >= date(2026, 11, 1)
    counted = definition["source"].get("operations")
    assert counted in (None, len(_operations(tool)))
    assert definition["server"].get("url") or definition["server"].get("command")


def test_every_operation_is_described_and_has_a_valid_schema(shipped: Catalog) -> None:
    """Draft 2020-12, an object, its required arguments declared, names that every model provider accepts."""
    for tool in shipped.tools():
        for operation in _operations(tool):
            assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", operation.name), operation.name
            assert operation.description.endswith("。"), operation.name
            schema = json.loads(operation.schema)
            jsonschema.Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object", operation.name
            assert set(schema.get("required", ())) <= set(schema["properties"]), operation.name


def test_names_that_sound_like_writing_write(shipped: Catalog) -> None:
    """T7: an operation that changes something must not pass as a read."""
    writing = re.compile(
        r"(^|_)(create|update|delete|destroy|send|add|remove|manage|modify|insert|import|cancel|set|move)(_|$)"
    )
    suspicious = [
        operation.name
        for tool in shipped.tools()
        for operation in _operations(tool)
        if operation.effect == "read" and writing.search(operation.name)
    ]
    assert suspicious == []


def test_http_operations_say_how_they_are_called(shipped: Catalog) -> None:
    """Only GET reads, and every argument of a path is required."""
    for operation in _operations(_tool(shipped, "freee")):
        definition = json.loads(operation.definition)
        assert (operation.effect == "read") == (definition["method"] == "GET"), operation.name
        required = json.loads(operation.schema).get("required", ())
        assert set(re.findall(r"\{(\w+)\}", definition["path"])) <= set(required), operation.name


RECEIVERS: tuple[tuple[str, str, bool, str, str], ...] = (
    ("bigquery", "query", True, "execute_sql_readonly", "query"),
    ("bigquery", "query", False, "execute_sql", "query"),
    ("slack", "notify", False, "conversations_add_message", "text"),
    ("google_workspace", "docs", False, "create_doc", "content"),
    ("google_workspace", "gmail", False, "draft_gmail_message", "body"),
    ("google_workspace", "drive", False, "create_drive_file", "content"),
    ("exa", "research", True, "agent_run", "query"),
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


def test_it_loads_within_fifteen_milliseconds(tmp_path: Path) -> None:
    """Compiled; the best of several, for the machine may be busy."""
    load_catalog(cache_dir=tmp_path)
    took = []
    for _ in range(7):
        begin = time.perf_counter()
        assert load_catalog(cache_dir=tmp_path).tool("slack") is not None
        took.append(time.perf_counter() - begin)
    assert min(took) < 0.015


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
