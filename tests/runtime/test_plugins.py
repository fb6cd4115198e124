"""Plug-ins: an organisation's own standard tools, from a folder or an installed package."""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from aop_runtime.declarations import Mcp, Phase, Standard
from aop_runtime.plane.registry import Registry, offers
from aop_runtime.plane.spec import Tool, ToolCall
from aop_runtime.sources.plugins import PluginSource
from aop_runtime.sources.protocol import SourceFault

from .plane.given import plane

STOCK = """
from aop_runtime.plane.envelope import Output
from aop_runtime.plane.spec import Tool, ToolSpec

LOADED = []


async def count(arguments, context):
    return Output(content=f"{arguments['item']}: 3")


def tools(grant):
    LOADED.append(grant)
    spec = ToolSpec(
        name="count",
        tool="stock",
        operation="count",
        description="How many there are.",
        input_schema={"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]},
        effect="read",
    )
    return [Tool(spec, count)]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / ".aop" / "tools"
    made.mkdir(parents=True)
    return made


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder of installed packages."""
    made = tmp_path / "site"
    made.mkdir()
    monkeypatch.syspath_prepend(made)
    yield made
    for name in [name for name in sys.modules if name.startswith("aop_test_")]:
        del sys.modules[name]
    importlib.invalidate_caches()


def install(site: Path, package: str, source: str, tool: str = "stock") -> None:
    (site / f"aop_test_{package}.py").write_text(source, encoding="utf-8")
    info = site / f"aop_test_{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: aop-test-{package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[aop.tools]\n{tool} = aop_test_{package}:tools\n")
    importlib.invalidate_caches()


def of(source: PluginSource, grant: Standard) -> list[Tool]:
    return list(asyncio.run(source.tools(grant)))


def fault(source: PluginSource, grant: Standard) -> str:
    assert source.accepts(grant)
    with pytest.raises(SourceFault) as found:
        of(source, grant)
    return str(found.value)


def edited(old: str, new: str) -> str:
    assert old in STOCK
    return STOCK.replace(old, new)


def test_a_file_provides_the_tool_of_its_name(folder: Path) -> None:
    """With the same contract as any other: it is offered, validated and called through the plane."""
    (folder / "stock.py").write_text(STOCK)
    registry = Registry([PluginSource(folder)], model="m:x")
    phase = Phase(number=1, title="a", instructions="x", tools=(Standard("stock"),))
    tools = asyncio.run(registry.tools(phase))
    assert [offer.name for offer in offers(tools, truncated=False)] == ["count"]
    on = plane(tools)
    assert asyncio.run(on.call(ToolCall("1", "count", {"item": "pens"}))).content == "pens: 3"
    wrong = asyncio.run(on.call(ToolCall("2", "count", {"itme": "pens"})))
    assert wrong.error is not None
    assert wrong.error.code == "invalid_input"


def test_a_folder_is_used_only_when_the_run_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not because it lies where the run was started."""
    (folder / "stock.py").write_text("raise SystemExit('loaded')")
    monkeypatch.chdir(folder.parent.parent)
    assert not PluginSource(None).accepts(Standard("stock"))


def test_nothing_is_loaded_before_its_tool_was_granted(folder: Path) -> None:
    """And then once, however many phases have the tool."""
    (folder / "other.py").write_text("raise SystemExit('loaded')")
    (folder / "stock.py").write_text(STOCK)
    source = PluginSource(folder)
    assert source.accepts(Standard("other"))
    of(source, Standard("stock"))
    of(source, Standard("stock"))
    assert len(sys.modules["aop_tools_stock"].LOADED) == 2


@pytest.mark.parametrize(
    "name", ["../stock", "/etc/passwd", "..", "stock/../stock", "stock\0", "sto\nck", "", " stock"]
)
def test_no_name_leaves_the_folder(folder: Path, name: str) -> None:
    """Whatever a catalog calls its tools."""
    (folder.parent / "stock.py").write_text(STOCK)
    (folder / "stock.py").write_text(STOCK)
    assert PluginSource(folder)._file(name) is None


def test_other_grants_are_not_accepted(folder: Path) -> None:
    """A connector is no plug-in's business, also under the same name."""
    (folder / "stock.py").write_text(STOCK)
    source = PluginSource(folder)
    grant = Mcp("stock", read_only=True, operations=("count",))
    assert not source.accepts(grant)
    with pytest.raises(SourceFault, match="standard tools"):
        asyncio.run(source.tools(grant))


def test_an_installed_package_provides_it(folder: Path, site: Path) -> None:
    """By its entry point; a file of the project comes first, and two packages are refused."""
    install(site, "one", STOCK)
    assert [tool.spec.address for tool in of(PluginSource(None), Standard("stock"))] == ["stock.count"]
    (folder / "stock.py").write_text(edited("How many", "Ours: how many"))
    assert "Ours" in str(of(PluginSource(folder), Standard("stock"))[0].spec.description)
    install(site, "two", STOCK)
    said = fault(PluginSource(None), Standard("stock"))
    assert "aop-test-one, aop-test-two" in said


@pytest.mark.parametrize(
    ("source", "line", "said"),
    [
        ("\n\nimport nothing_of_this_name\n", 3, "ModuleNotFoundError"),
        ("x = 1\ndef tools(:\n", 2, "SyntaxError"),
        ("\nraise SystemExit('enough')\n", 2, "SystemExit: enough"),
        ("def tools(grant):\n    return helper()\n\ndef helper():\n    return {}['x']\n", 5, "KeyError"),
        ("import json\ndef tools(grant):\n    return json.loads('{')\n", 3, "JSONDecodeError"),
    ],
)
def test_what_fails_says_where(folder: Path, source: str, line: int, said: str) -> None:
    """File and line of the plug-in, and nothing of it stays loaded."""
    file = folder / "stock.py"
    file.write_text(source)
    sys.modules.pop("aop_tools_stock", None)
    found = fault(PluginSource(folder), Standard("stock"))
    assert f"{file}:{line}: {said}" in found
    assert "\n" not in found
    if "def tools(grant)" not in source:
        assert "aop_tools_stock" not in sys.modules


def test_a_package_that_fails_says_where(site: Path) -> None:
    """In the file that the package is made of."""
    install(site, "bad", "\nimport nothing_of_this_name\n")
    assert f"{site / 'aop_test_bad.py'}:2: ModuleNotFoundError" in fault(PluginSource(None), Standard("stock"))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("def tools(grant)", "def toolz(grant)", "no function tools"),
        ("return [Tool(spec, count)]", "return None", "a list of Tool"),
        ("return [Tool(spec, count)]", "return 'count'", "a list of Tool"),
        ("return [Tool(spec, count)]", "return []", "1 to 200"),
        ("return [Tool(spec, count)]", "return [Tool(spec, count)] * 201", "1 to 200"),
        ("return [Tool(spec, count)]", "return [count]", "return Tool only"),
        ("return [Tool(spec, count)]", "return [Tool(spec, count), Tool(spec, count)]", "twice"),
        ("return [Tool(spec, count)]", "return [Tool(spec, None)]", "handler"),
        ("return [Tool(spec, count)]", "return [Tool(spec, count, [1])]", "inner"),
        ("return [Tool(spec, count)]", "return [Tool(spec, count, (count,))]", "inner"),
        ('tool="stock"', 'tool="slack"', "may provide stock, not slack"),
        ('operation="count"', "operation=7", "operation"),
        ('name="count"', 'name=""', "name"),
        ('"How many there are."', "7", "description"),
        ('effect="read"', 'effect="none"', "effect"),
        ('effect="read"', 'effect="read", confirmation="maybe"', "confirmation"),
        ('effect="read"', 'effect="read", timeout_s=float("nan")', "timeout_s"),
        ('effect="read"', 'effect="read", timeout_s=0', "timeout_s"),
        ('effect="read"', 'effect="read", output_limit=True', "output_limit"),
        ('effect="read"', 'effect="read", compatibility=None', "compatibility"),
        ('effect="read"', 'effect="read", idempotency_argument="key"', "idempotency_argument"),
        ('effect="read"', 'effect="write", idempotency_argument="item"', "idempotency_argument"),
        ('{"type": "object"', '{"type": "array"', "type: object"),
        ('{"type": "string"}', '{"type": "text"}', "cannot be used"),
    ],
)
def test_what_a_plug_in_returns_is_checked(folder: Path, old: str, new: str, said: str) -> None:
    """Before any of it is offered."""
    (folder / "stock.py").write_text(edited(old, new))
    found = fault(PluginSource(folder), Standard("stock"))
    assert said in found
    assert str(folder / "stock.py") in found


def test_read_only_holds_for_plug_ins_too(folder: Path) -> None:
    """What writes is refused where only reading was granted."""
    (folder / "stock.py").write_text(edited('effect="read"', 'effect="write"'))
    assert "only reading was granted" in fault(PluginSource(folder), Standard("stock", read_only=True))
    assert len(of(PluginSource(folder), Standard("stock"))) == 1
