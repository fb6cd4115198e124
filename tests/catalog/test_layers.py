"""Layers: shipped ← imported ← organisation ← `mcp.json`, and what each may change of those below."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from catalog_files import ATTENDANCE, CONFORMANCE, STOCK, write

from catalog.errors import CatalogError
from catalog.layers import Place
from catalog.load import load_catalog, load_layers
from catalog.own import Own, find_own
from catalog.snapshot import Catalog

OWN_STOCK = """\
version: 1
tools:
  - name: Zaiko
    kind: mcp
    operations:
      - {name: count, effect: read}
"""


@pytest.fixture
def base(tmp_path: Path) -> Path:
    return write(tmp_path, "base.yaml", STOCK)


def layered(base: Path, *organisation: Path, imported: tuple[Path, ...] = (), servers: Path | None = None) -> Catalog:
    return load_catalog([base], servers, base.parent / "cache", Own(imported, organisation))


def operations(catalog: Catalog, name: str) -> list[str]:
    tool = catalog.tool(name)
    assert tool is not None
    return [operation.name for operation in tool.operations or ()]


def test_an_organisations_tool_replaces_the_shipped_one_whole(base: Path) -> None:
    """Not field by field: what it leaves out is gone, in suggestions too."""
    catalog = layered(base, write(base.parent, "org.yaml", OWN_STOCK))
    tool = catalog.tool("zaiko")
    assert tool is not None
    assert (tool.name, tool.title, tool.categories, tool.hints) == ("Zaiko", "Zaiko", (), ())
    assert operations(catalog, "zaiko") == ["count"]
    assert not catalog.known_word("在庫")
    assert catalog.receivers(False) == ()


def test_an_organisation_removes_tools_by_name(base: Path) -> None:
    """As if they were not there: unknown, not mentioned, not suggested."""
    catalog = layered(base, write(base.parent, "org.yaml", "version: 1\nremove: [ＺＡＩＫＯ]\n"))
    assert catalog.tool("zaiko") is None
    assert catalog.tools() == ()
    assert catalog.connectors() == ()
    assert catalog.suggest_tools("在庫", None) == ()


def test_what_is_removed_must_be_there(base: Path) -> None:
    """A misspelt removal would leave the tool in place unseen: the file is refused, at the line."""
    org = write(base.parent, "org.yaml", "version: 1\nremove:\n  - zaiko\n  - zaikoo\ntools: []\n")
    with pytest.raises(CatalogError) as caught:
        layered(base, org)
    assert (caught.value.reason, caught.value.file, caught.value.line) == ("remove-unknown", str(org), 4)
    with pytest.raises(CatalogError):
        layered(base, org)  # from the cache, too


def test_a_later_organisation_file_goes_over_an_earlier_one(base: Path) -> None:
    """Each may replace, remove, and bring back."""
    folder = base.parent
    add = write(folder, "1.yaml", OWN_STOCK)
    remove = write(folder, "2.yaml", "version: 1\nremove: [zaiko]\n")
    assert operations(layered(base, add), "zaiko") == ["count"]
    assert layered(base, add, remove).tool("zaiko") is None
    assert operations(layered(base, remove, add), "zaiko") == ["count"]


def test_removal_among_catalog_files(tmp_path: Path) -> None:
    """`--catalog` given again merges in order, removals too."""
    files = [write(tmp_path, "a.yaml", STOCK), write(tmp_path, "b.yaml", ATTENDANCE)]
    catalog = load_catalog([*files, write(tmp_path, "c.yaml", "version: 1\nremove: [zaiko]\ntools: []\n")])
    assert [tool.name for tool in catalog.tools()] == ["kintai"]


def test_an_imported_tool_never_goes_over_another_entry(base: Path) -> None:
    """What a server says of itself is the least that is trusted (its effects above all)."""
    folder = base.parent
    imported = (
        write(folder, "zaiko.yaml", OWN_STOCK),
        write(folder, "crm.yaml", "version: 1\ntools:\n  - {name: crm, kind: mcp, operations: [{name: find}]}\n"),
    )
    catalog = layered(base, imported=imported)
    assert operations(catalog, "zaiko") == ["get_stock", "create_order"]
    assert operations(catalog, "crm") == ["find"]
    replaced = write(folder, "org.yaml", "version: 1\ntools:\n  - {name: crm, kind: mcp, operations: [{name: own}]}\n")
    assert operations(layered(base, replaced, imported=imported), "crm") == ["own"]
    removed = write(folder, "gone.yaml", "version: 1\nremove: [crm]\n")
    assert layered(base, removed, imported=imported).tool("crm") is None


SERVERS = """\
{
  "mcpServers": {
    "ZAIKO": {"type": "http", "url": "https://stock.example.com/mcp", "headers": {"Authorization": "Bearer s3cret"}},
    "crm": {"command": "crm-mcp"}
  }
}
"""


def test_a_server_gives_a_catalog_tool_its_address_and_nothing_else(base: Path) -> None:
    """Categories, operations, effects and its server stay those of the catalog; the server's own elsewhere, too."""
    config = write(base.parent, "mcp.json", SERVERS)
    plain, catalog = layered(base).tool("zaiko"), layered(base, servers=config).tool("zaiko")
    assert plain is not None
    assert catalog is not None
    assert (catalog.name, catalog.categories, catalog.operations) == ("zaiko", plain.categories, plain.operations)
    definition = json.loads(catalog.definition)
    address = {"headers": ["Authorization"], "type": "http", "url": "https://stock.example.com/mcp"}
    assert definition == {**json.loads(plain.definition), "configured": address}
    assert catalog.digest != plain.digest
    assert layered(base, servers=config).digest != layered(base).digest
    assert operations(layered(base, servers=config), "crm") == []


def test_a_server_addresses_an_organisations_and_an_imported_tool(base: Path) -> None:
    """Whichever layer the tool came from: this is how a listed server stays a tool of known operations."""
    folder = base.parent
    config = write(folder, "mcp.json", SERVERS)
    crm = "version: 1\ntools:\n  - {name: crm, kind: mcp, operations: [{name: find, effect: read}]}\n"
    for own in (Own(imported=(write(folder, "c.yaml", crm),)), Own(organisation=(write(folder, "d.yaml", crm),))):
        tool = load_catalog([base], config, None, own).tool("crm")
        assert tool is not None
        assert tool.operations is not None
        assert json.loads(tool.definition) == {"configured": {"command": "crm-mcp"}}


def test_a_server_called_browser_is_where_the_standard_browser_is_reached(base: Path) -> None:
    """What it grants stays that of the catalog; no other standard tool has a server."""
    config = write(base.parent, "mcp.json", '{"mcpServers": {"Browser": {"command": "chrome-mcp"}}}')
    plain, tool = load_catalog([CONFORMANCE]).tool("browser"), load_catalog([CONFORMANCE], config).tool("browser")
    assert plain is not None
    assert tool is not None
    assert (tool.kind, tool.categories, tool.grants, tool.options) == (
        plain.kind,
        plain.categories,
        plain.grants,
        plain.options,
    )
    with pytest.raises(CatalogError):
        load_catalog([CONFORMANCE], write(base.parent, "b.json", '{"mcpServers": {"hitl": {"command": "x"}}}'))


def test_a_removed_tools_server_is_a_tool_of_unknown_operations(base: Path) -> None:
    """`mcp.json` is the topmost layer: its server is there, and nobody knows what it offers."""
    config = write(base.parent, "mcp.json", SERVERS)
    tool = layered(base, write(base.parent, "org.yaml", "version: 1\nremove: [zaiko]\n"), servers=config).tool("zaiko")
    assert tool is not None
    assert (tool.name, tool.operations) == ("ZAIKO", None)


def test_a_layered_catalog_is_the_same_from_the_cache_and_in_another_process(base: Path) -> None:
    """Cached part by part; sent to the processes of a large compile as it is."""
    org = write(base.parent, "org.yaml", OWN_STOCK)
    config = write(base.parent, "mcp.json", SERVERS)
    read = layered(base, org, servers=config)
    again = layered(base, org, servers=config)
    sent = pickle.loads(pickle.dumps(again))  # noqa: S301 — our own
    assert read.digest == again.digest == sent.digest
    assert read.tools() == again.tools() == sent.tools()


def test_a_damaged_part_is_compiled_again(base: Path) -> None:
    """Whichever layer it belongs to: tools and addresses alike."""
    org = write(base.parent, "org.yaml", "version: 1\ntools:\n  - {name: crm, kind: mcp, operations: [{name: find}]}\n")
    config = write(base.parent, "mcp.json", SERVERS)
    right = layered(base, org, servers=config).tools()
    for path in (base.parent / "cache").glob("catalog-*.jsonl"):
        head, line = path.read_bytes().split(b"\n", 2)[1:]
        path.write_bytes(path.read_bytes().replace(line, line.swapcase()))
        assert head
    assert layered(base, org, servers=config).tools() == right


def test_each_entry_knows_where_it_came_from_and_what_it_covers(base: Path) -> None:
    """File and line of the entry that counts, of those below it, and of the address."""
    folder = base.parent
    imported = write(folder, "zaiko.yaml", OWN_STOCK)
    org = write(folder, "org.yaml", f"version: 1\nremove: [kintai]\n{OWN_STOCK.removeprefix('version: 1')}")
    config = write(folder, "mcp.json", SERVERS)
    files = [base, write(folder, "more.yaml", ATTENDANCE)]
    layers = load_layers(files, config, folder / "cache", Own((imported,), (org,)))
    zaiko = layers.tools["zaiko"]
    assert zaiko.place == Place("organisation", str(org), 5)
    assert zaiko.over == (Place("catalog", str(base), 3),)
    assert zaiko.beside == (Place("imported", str(imported), 3),)
    assert zaiko.address is not None
    assert zaiko.address[1] == Place("mcp.json", str(config), 3)
    assert layers.tools["crm"].place == Place("mcp.json", str(config), 4)
    (gone,) = layers.removed
    assert (gone.name, gone.by.line, gone.what) == ("kintai", 2, (Place("catalog", str(files[1]), 3),))
    cached = load_layers(files, config, folder / "cache", Own((imported,), (org,)))
    places = [[(tool.place, tool.over, tool.beside) for tool in found.tools.values()] for found in (layers, cached)]
    assert places[0] == places[1]
    assert cached.removed == layers.removed


def test_a_projects_own_files_are_found_in_its_folder(tmp_path: Path) -> None:
    """`aop-catalog.yaml` and `aop-tools/*.yaml`, or the organisation's files as named."""
    assert find_own(tmp_path) == Own()
    org = write(tmp_path, "aop-catalog.yaml", OWN_STOCK)
    (tmp_path / "aop-tools").mkdir()
    tools = [write(tmp_path, f"aop-tools/{name}", OWN_STOCK) for name in ("b.yaml", "a.yaml", ".c.yaml", "d.yml")]
    assert find_own(tmp_path) == Own((tools[1], tools[0]), (org,))
    assert find_own(tmp_path, [Path("x.yaml")]).organisation == (Path("x.yaml"),)
    assert find_own(tmp_path, []).organisation == ()


def test_no_layers_cost_nothing(tmp_path: Path) -> None:
    """Without files of its own a project has the catalog that it always had."""
    assert load_catalog([CONFORMANCE], None, tmp_path, Own()).digest == load_catalog([CONFORMANCE]).digest
