"""What a loaded catalog answers (T2, T5, T8, T9, T11, V4)."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from catalog_files import ATTENDANCE, CONFORMANCE, STOCK, conformance, write

from catalog.load import load_catalog
from catalog.lock import lock_of
from catalog.model import Category, Operation, Tool
from catalog.snapshot import Catalog
from catalog.view import CatalogView


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    return conformance(tmp_path)


def test_a_catalog_is_a_view(catalog: Catalog) -> None:
    """The resolve stage needs nothing beyond the protocol."""
    view: CatalogView = catalog
    assert view.tool("slack") is not None


@pytest.mark.parametrize("written", ["slack", "Slack", "SLACK", "ｓｌａｃｋ", "Ｓｌａｃｋ"])
def test_names_are_compared_after_nfkc_and_case_folding(catalog: Catalog, written: str) -> None:
    """T2: and the result has the catalog's spelling."""
    tool = catalog.tool(written)
    assert tool is not None
    assert tool.name == "slack"


@pytest.mark.parametrize("written", ["チャット", "Google Workspace", "google-workspace", "slack ", "", "添付"])
def test_titles_hints_and_near_spellings_are_no_names(catalog: Catalog, written: str) -> None:
    """T5: only names in the catalog are tools."""
    assert catalog.tool(written) is None


def test_connectors_are_mcp_and_http_tools(catalog: Catalog) -> None:
    """T9: standard tools are not mentions; an added server is a connector."""
    assert catalog.connectors() == ("bigquery", "exa", "freee", "google_workspace", "linear", "my_crm", "slack")


@pytest.mark.parametrize(
    ("word", "known"),
    [
        ("会計ソフト", True),
        ("Google", True),
        ("ｇｏｏｇｌｅ", True),
        ("google workspace", True),
        ("添付", True),
        ("drive", False),
        ("予定", False),
        ("通知", False),
        ("notion", False),
        ("", False),
    ],
)
def test_known_words_are_titles_and_hints_of_tools(catalog: Catalog, word: str, known: bool) -> None:
    """T5: such a word is unreadable rather than unknown; a category's words do not count."""
    assert catalog.known_word(word) is known


def test_an_effect_that_is_not_given_writes(catalog: Catalog) -> None:
    """T7: an operation whose effect is unknown writes."""
    linear = catalog.tool("linear")
    assert linear is not None
    assert [(entry.name, entry.effect) for entry in linear.operations or ()] == [
        ("list_issues", "read"),
        ("create_issue", "write"),
        ("legacy_sync", "write"),
    ]


def test_an_added_server_has_no_categories_and_unknown_operations(catalog: Catalog) -> None:
    """T11."""
    crm = catalog.tool("my_crm")
    assert crm is not None
    assert (crm.kind, crm.categories, crm.operations) == ("mcp", (), None)


def test_grants_of_a_standard_tool_are_written_out(catalog: Catalog, tmp_path: Path) -> None:
    """T8: a word without an entry allows itself."""
    browser = catalog.tool("browser")
    assert browser is not None
    assert browser.operations == ()
    assert browser.options == ("profile",)
    assert dict(browser.grants)["interact"] == ("read", "navigation", "interact")
    entry = "{name: pen, kind: standard, categories: [{name: red}, {name: blue}], grants: {RED: [blue]}}"
    text = f"version: 1\ntools: [{entry}]"
    pen = load_catalog([write(tmp_path, "pen.yaml", text)]).tool("pen")
    assert pen is not None
    assert pen.grants == (("red", ("blue",)), ("blue", ("blue",)))


def test_receivers_are_mcp_tools_that_take_text(catalog: Catalog) -> None:
    """V4: among the reads with `(read-only)`, among the writes without."""
    assert catalog.receivers(True) == ("bigquery",)
    assert catalog.receivers(False) == ("bigquery", "google_workspace", "slack")


def test_receivers_are_at_most_five(tmp_path: Path) -> None:
    """AOP307 names the tools that can receive, but not all of a large catalog."""
    entry = (
        "  - {{name: t{0}, kind: mcp, operations: [{{name: o, text_argument: a,"
        " input_schema: {{type: object, properties: {{a: {{type: string}}}}}}}}]}}"
    )
    text = "version: 1\ntools:\n" + "\n".join(entry.format(number) for number in range(9))
    assert load_catalog([write(tmp_path, "many.yaml", text)]).receivers(False) == ("t0", "t1", "t2", "t3", "t4")


def test_every_field_of_the_file_reaches_the_model(tmp_path: Path) -> None:
    """Section 10: what the compiler does not use itself is kept for the run-time in `definition`."""
    tool = load_catalog([write(tmp_path, "stock.yaml", STOCK)]).tool("zaiko")
    assert isinstance(tool, Tool)
    assert (tool.kind, tool.title, tool.hints) == ("mcp", "在庫管理", ("在庫", "倉庫"))
    assert tool.categories == (Category("stock", "在庫数", ("残数",)), Category("orders", "発注", ()))
    assert json.loads(tool.definition) == {
        "source": {
            "url": "https://zaiko.example.com/docs",
            "date": "2026-11-01",
            "revision": "3",
            "operations": 3,
            "left_out": ["sync"],
            "note": "手動",
        },
        "server": {"url": "https://zaiko.example.com/mcp", "credentials": ["ZAIKO_TOKEN"]},
    }
    get, create = tool.operations or ()
    assert get == Operation(
        name="get_stock",
        category="stock",
        effect="read",
        description="品番の在庫数を返す。",
        schema='{"properties":{"item":{"description":"品番","type":"string"}},"required":["item"],"type":"object"}',
        text_argument=None,
        definition="{}",
    )
    assert (create.effect, create.text_argument) == ("write", "lines")
    assert json.loads(create.schema)["properties"]["warehouse"]["enum"] == ["east", "on"]
    assert json.loads(create.definition) == {
        "output_schema": {"type": "object"},
        "confirm": "always",
        "idempotency_argument": "key",
        "timeout_s": 30,
        "permission": "orders.write",
    }


def test_an_http_operation_keeps_how_it_is_called(tmp_path: Path) -> None:
    """Section 10: method, path and mapping; a tool without a title is called by its name."""
    tool = load_catalog([write(tmp_path, "kintai.yaml", ATTENDANCE)]).tool("kintai")
    assert tool is not None
    assert tool.title == "kintai"
    assert json.loads((tool.operations or ())[0].definition) == {
        "method": "GET",
        "path": "/v1/employees/{employee_id}/records",
        "mapping": {"query": ["from"], "header": ["tenant"]},
    }


def test_an_operation_without_a_schema_says_so(catalog: Catalog) -> None:
    """`schema` is empty where the catalog gives none."""
    freee = catalog.tool("freee")
    assert freee is not None
    assert {entry.schema for entry in freee.operations or ()} == {""}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("title: 在庫管理", "title: 倉庫管理"),
        ("hints: [在庫, 倉庫]", "hints: [倉庫, 在庫]"),
        ("effect: read", "effect: write"),
        ("description: 品番の在庫数を返す。", "description: 在庫を返す。"),
        ("{type: string, description: 品番}", "{type: integer, description: 品番}"),
        ("confirm: always", "confirm: never"),
        ("timeout_s: 30", "timeout_s: 31"),
        ("ZAIKO_TOKEN", "STOCK_TOKEN"),
        ("date: 2026-11-01", "date: 2026-11-02"),
        ("{name: orders, title: 発注}", "{name: orders, title: 発注, hints: [注文]}"),
    ],
)
def test_the_digest_covers_everything(tmp_path: Path, old: str, new: str) -> None:
    """R1: a tool that differs in anything has another digest, and so has its catalog."""
    assert old in STOCK
    before = load_catalog([write(tmp_path, "a.yaml", STOCK)])
    after = load_catalog([write(tmp_path, "b.yaml", STOCK.replace(old, new))])
    was, now = before.tool("zaiko"), after.tool("zaiko")
    assert was is not None
    assert now is not None
    assert was.digest != now.digest
    assert before.digest != after.digest


def test_the_digest_ignores_how_the_file_is_written(tmp_path: Path) -> None:
    """R4: comments, blank lines, key order and the order of files mean nothing."""
    other = "# 注\n" + STOCK.replace(
        "    title: 在庫管理\n    hints: [在庫, 倉庫]\n", "    hints: [在庫, 倉庫]\n\n    title: 在庫管理\n"
    )
    stock, spaced = write(tmp_path, "a.yaml", STOCK), write(tmp_path, "b.yaml", other)
    kintai = write(tmp_path, "c.yaml", ATTENDANCE)
    assert load_catalog([stock, kintai]).digest == load_catalog([kintai, spaced]).digest


def test_tools_lists_all_by_name(catalog: Catalog) -> None:
    """For listings: each tool once, in a fixed order."""
    names = [tool.name for tool in catalog.tools()]
    assert names == sorted(names)
    assert len(names) == 11


def test_a_catalog_crosses_process_borders(catalog: Catalog) -> None:
    """Many documents are compiled by several processes at once."""
    copy: Catalog = pickle.loads(pickle.dumps(catalog))  # noqa: S301 — our own bytes
    assert copy.digest == catalog.digest
    assert copy.tool("slack") == catalog.tool("slack")
    assert copy.suggest_tools("slak", None) == ("slack",)


def test_a_catalog_that_needs_nothing_else(catalog: Catalog) -> None:
    """The same, of sections that are read by what no other process could be given; and without what was built."""
    entries = [entry._replace(packed=lambda packed=entry.packed: packed()) for entry in catalog._entries.values()]
    lock = lock_of(Path("aop.lock"), b'{"version": 1, "documents": [], "policy": {}, "tools": {}}')
    bound = Catalog(entries, lambda: entries).with_lock(lock)
    assert bound.tool("slack") is not None
    copy: Catalog = pickle.loads(pickle.dumps(bound.self_contained()))  # noqa: S301 — our own bytes
    assert copy.digest == bound.digest
    assert copy.tools() == catalog.tools()


def test_the_conformance_catalog_is_the_one_of_the_cases() -> None:
    """These tests speak of its tools by name."""
    assert CONFORMANCE.is_file()
