"""Several `--catalog` files and an `mcpServers` file together (section 9, T11)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from catalog_files import ATTENDANCE, STOCK, write

from catalog.errors import CatalogError
from catalog.load import load_catalog

SERVERS = """\
{
  "mcpServers": {
    "my_crm": {
      "type": "http",
      "url": "https://crm.example.com/mcp",
      "headers": {"Authorization": "Bearer s3cret"}
    },
    "helpdesk": {
      "command": "helpdesk-mcp",
      "args": ["--stdio"],
      "env": {"HELPDESK_TOKEN": "t0ken", "A": "b"},
      "disabled": false
    }
  }
}
"""


def test_files_are_merged_and_a_later_one_wins_a_name(tmp_path: Path) -> None:
    """A tool is replaced whole, not field by field; names are compared folded."""
    first = write(tmp_path, "a.yaml", STOCK)
    second = write(tmp_path, "b.yaml", ATTENDANCE)
    third = write(tmp_path, "c.yaml", "version: 1\ntools:\n  - {name: ＺＡＩＫＯ, kind: mcp, title: 新}\n")
    catalog = load_catalog([first, second, third])
    zaiko = catalog.tool("zaiko")
    assert zaiko is not None
    assert (zaiko.name, zaiko.title, zaiko.hints, zaiko.operations) == ("ＺＡＩＫＯ", "新", (), None)
    assert len(catalog.tools()) == 2
    assert not catalog.known_word("在庫")
    again = load_catalog([third, second, first]).tool("zaiko")
    assert again is not None
    assert again.title == "在庫管理"


def test_no_files_is_an_empty_catalog() -> None:
    """`files=[]` is not `files=None`: nothing replaces the shipped catalog with nothing."""
    empty = load_catalog([])
    assert empty.tools() == ()
    assert empty.connectors() == ()
    assert empty.suggest_tools("slack", None) == ()
    assert empty.receivers(False) == ()


def test_servers_are_added_to_the_files(tmp_path: Path) -> None:
    """Each is a connector without categories whose operations are unknown; keys of other programs pass unread."""
    catalog = load_catalog([write(tmp_path, "a.yaml", STOCK)], write(tmp_path, "mcp.json", SERVERS))
    assert catalog.connectors() == ("helpdesk", "my_crm", "zaiko")
    crm = catalog.tool("MY_CRM")
    assert crm is not None
    assert (crm.name, crm.kind, crm.title, crm.categories, crm.operations) == ("my_crm", "mcp", "my_crm", (), None)
    assert json.loads(crm.definition) == {
        "configured": {"headers": ["Authorization"], "type": "http", "url": "https://crm.example.com/mcp"}
    }


def test_servers_are_added_to_the_shipped_catalog(tmp_path: Path) -> None:
    """`--mcp-config` alone."""
    catalog = load_catalog(None, write(tmp_path, "mcp.json", SERVERS))
    assert {"helpdesk", "my_crm", "slack"} <= set(catalog.connectors())


def test_no_secret_of_the_file_is_kept(tmp_path: Path) -> None:
    """Values of `env` and `headers` are neither in the catalog nor in its compiled form."""
    cache = tmp_path / "cache"
    catalog = load_catalog([], write(tmp_path, "mcp.json", SERVERS), cache)
    written = b"".join(path.read_bytes() for path in cache.iterdir())
    kept = written.decode() + "".join(tool.definition for tool in catalog.tools())
    assert "HELPDESK_TOKEN" in kept
    assert "s3cret" not in kept
    assert "t0ken" not in kept


def test_no_secret_of_an_argument_or_a_url_is_kept(tmp_path: Path) -> None:
    """People write keys there as well: nothing is kept of arguments, nor of a URL beside host and path."""
    given = {
        "mcpServers": {
            "a": {"command": "x", "args": ["--token", "s3cret"]},
            "b": {"url": "https://me:s3cret@b.example:8443/mcp?key=s3cret#s3cret"},
            "c": {"url": "https://[::1:s3cret@/"},
            "d": {"url": "s3cret"},
        }
    }
    cache = tmp_path / "cache"
    catalog = load_catalog([], write(tmp_path, "mcp.json", json.dumps(given)), cache)
    written = b"".join(path.read_bytes() for path in cache.iterdir()).decode()
    assert "s3cret" not in written + "".join(tool.definition for tool in catalog.tools())
    server = catalog.tool("b")
    assert server is not None
    assert json.loads(server.definition) == {"configured": {"url": "https://b.example:8443/mcp"}}


def test_a_changed_secret_changes_no_digest(tmp_path: Path) -> None:
    """R1: a rotated token is no other tool."""
    before = load_catalog([], write(tmp_path, "a.json", SERVERS))
    after = load_catalog([], write(tmp_path, "b.json", SERVERS.replace("s3cret", "rotated")))
    moved = load_catalog([], write(tmp_path, "c.json", SERVERS.replace("crm.example.com", "crm2.example.com")))
    assert before.digest == after.digest != moved.digest


def test_a_server_with_the_name_of_another_kind_of_tool_is_an_error(tmp_path: Path) -> None:
    """An HTTP API is not reached as an MCP server is (one of kind mcp gets its address from it: test_layers)."""
    path = write(tmp_path, "mcp.json", SERVERS.replace('"helpdesk": {', '"Ｋintai": {'))
    with pytest.raises(CatalogError) as caught:
        load_catalog([write(tmp_path, "a.yaml", ATTENDANCE)], path)
    assert (caught.value.reason, caught.value.line, caught.value.file) == ("server-is-tool", 8, str(path))
    assert "Ｋintai" in caught.value.message("ja")
    assert "kintai" in caught.value.message("en")


FAULTS: tuple[tuple[str, str, int], ...] = (
    ("", "json-syntax", 1),
    ("\n\n", "json-syntax", 3),
    ("[]", "type-wrong", 1),
    ('{"servers": {}}', "key-missing", 1),
    ('{\n "mcpServers": []\n}', "type-wrong", 2),
    ('{"mcpServers": {\n "a": "b"\n}}', "type-wrong", 2),
    ('{"mcpServers": {\n "a": {}\n}}', "server-incomplete", 2),
    ('{"mcpServers": {\n "a": {"command": "x",\n "url": "https://x.example"}\n}}', "server-ambiguous", 2),
    ('{"mcpServers": {\n "a": {\n "command": ["x"]}\n}}', "type-wrong", 3),
    ('{"mcpServers": {\n "a": {\n "command": ""}\n}}', "name-empty", 3),
    ('{"mcpServers": {"a": {"command": "x",\n "args": [\n1]}}}', "type-wrong", 3),
    ('{"mcpServers": {"a": {"command": "x",\n "env": {"A": 1}}}}', "type-wrong", 2),
    ('{"mcpServers": {"a": {"url": "https://x.example",\n "headers": []}}}', "type-wrong", 2),
    ('{"mcpServers": {"a": {"url": "https://x.example",\n "type": "carrier-pigeon"}}}', "value-wrong", 2),
    ('{"mcpServers": {\n" ": {"command": "x"}}}', "name-empty", 2),
    ('{"mcpServers": {"a": {"command": "x"},\n"Ａ": {"command": "x"}}}', "name-duplicate", 2),
    ('{"mcpServers": {"a": {"command": "x"},\n"a": {"command": "x"}}}', "key-duplicate", 2),
    ('{"mcpServers": {\n"a": {"command": "x",}}}', "json-syntax", 2),
    ('{"mcpServers": {\n\n"a": {"command": "x"\n', "json-syntax", 4),
    ('{"mcpServers": {\n// a comment\n}}', "json-syntax", 2),
    ('{"mcpServers": {}}\n}', "json-syntax", 2),
    ('{"mcpServers": {"a": {"command": "x", "n": NaN}}}', "json-syntax", 1),
    ('{"mcpServers": {"a": {"command": "x\ny"}}}', "json-syntax", 1),
    ('{"mcpServers": {"a": {"command": "\\ud800"}}}', "json-syntax", 1),
    ('{"mcpServers": ' + "[" * 100 + "]" * 100 + "}", "too-deep", 1),
    ('{"mcpServers": {"a": {"command": "x", "n": 1' + "0" * 400 + "}}}", "json-syntax", 1),
    ('{"mcpServers": {"a": {"command": "x", "n": 1e999}}}', "json-syntax", 1),
)


@pytest.mark.parametrize(("text", "reason", "line"), FAULTS)
def test_a_faulty_servers_file_is_shown_at_its_line(tmp_path: Path, text: str, reason: str, line: int) -> None:
    """JSON and structure alike."""
    path = tmp_path / "mcp.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        load_catalog([], path)
    assert (caught.value.reason, caught.value.line) == (reason, line)
    assert caught.value.message("ja") != caught.value.message("en")


def test_hostile_json_is_refused_within_bounds(tmp_path: Path) -> None:
    """A million brackets, a million values."""
    for content in ("[" * 1_000_000, "[" + "0," * 1_000_000, '{"a":' * 300_000, '"' + "\\" * 999_999):
        path = tmp_path / "mcp.json"
        path.write_text(content)
        with pytest.raises(CatalogError):
            load_catalog([], path)


def test_an_unreadable_servers_file_is_an_error(tmp_path: Path) -> None:
    """As for catalog files."""
    with pytest.raises(CatalogError) as caught:
        load_catalog([], tmp_path / "mcp.json")
    assert caught.value.reason == "file-unreadable"


def test_a_servers_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    """Windows editors write one."""
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xef\xbb\xbf" + SERVERS.encode())
    assert load_catalog([], path).tool("my_crm") is not None
