"""The demonstration: by the commands that are documented, examples run to their results with this machine alone."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from aop_runtime.declarations import Mcp
from aop_runtime.manifest import Manifest
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.schemas import closed, without_patterns
from aop_runtime.sources.servers import read_servers
from cli.main import main
from examples.server.offered import answers, listed, shipped

from .test_examples import RESULTS

ROOT = Path(__file__).parents[2]
SERVERS = ROOT / "examples" / "mcp.json"
READMES = [ROOT / "examples" / name for name in ("README.markdown", "README.ja.markdown")]


@pytest.fixture
def activated(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `. .venv/bin/activate`."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, activated: None) -> Path:
    """A folder that has the examples where a checkout has them, so that what a run leaves is left there."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def documented(beginning: str) -> str:
    """The command of the READMEs that begins so; the same in both."""
    found = {
        match[1]
        for readme in READMES
        for match in re.finditer(rf"^\$ ({beginning}[^#\n]*)", readme.read_text("utf-8"), re.M)
    }
    (command,) = found
    return command.strip()


@pytest.mark.usefixtures("checkout")
def test_make_demo_runs_an_example_to_its_result() -> None:
    """Whole, from Markdown; the recipe's last line is the run, what stands before it is setting up."""
    assert documented("make") == "make demo"
    recipe = subprocess.run(
        ["make", "-n", "--no-print-directory", "-C", str(ROOT), "demo"], check=True, capture_output=True, text=True
    ).stdout
    command = ["sh", "-c", recipe.splitlines()[-1]]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran
    assert ran.stdout.rstrip().endswith(RESULTS["onboarding"])
    assert len(re.findall("✎", ran.stdout)) == 3


def test_without_leave_it_asks_and_goes_on_when_it_is_answered(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """In another process as well: its servers are started for each."""
    command = shlex.split(documented("aop run examples/onboarding"))[1:]
    assert main([*command, "--lang", "en"]) == 3
    found = re.search(r"aop (runs resume \S+ --approve \S+)", capfd.readouterr().out)
    assert found is not None
    assert main([*found[1].split(), "--allow", "*"]) == 0
    assert RESULTS["onboarding"] in capfd.readouterr().out


@pytest.fixture
def freee(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The API by HTTP, as the READMEs start it."""
    command = shlex.split(documented("python -m examples.server").removesuffix("&"))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        said: IO[str] | None = process.stdout
        assert said is not None
        assert re.fullmatch(r"freee: http://127\.0\.0\.1:\d+, build/freee\.yaml\n", said.readline())
        monkeypatch.setenv("FREEE_ACCESS_TOKEN", "any")
        yield
        process.terminate()


@pytest.mark.usefixtures("freee")
def test_an_api_by_http_is_served_as_well(capfd: pytest.CaptureFixture[str]) -> None:
    """It is reached where the catalog file says that it is."""
    command = shlex.split(documented("aop run examples/quote.md --script"))[1:]
    assert main([*command, "--allow", "*", "--lang", "en"]) == 3
    found = re.search(r"aop (runs resume \S+ --answer \S+=)", capfd.readouterr().out)
    assert found is not None
    assert main([*f"{found[1]}承認する".split(), "--allow", "*"]) == 0
    assert RESULTS["quote"] in capfd.readouterr().out


@pytest.mark.usefixtures("activated")
def test_the_servers_offer_what_the_catalog_has() -> None:
    """Every operation, with its schema and its effect, of every server of the file."""

    async def offered() -> dict[str, dict[str, tuple[object, str]]]:
        source = Connectors(Manifest({}, {}), read_servers(SERVERS), os.environ)
        try:
            found = {}
            for name in names:
                tools = await source.tools(Mcp(name, read_only=False, operations=None))
                found[name] = {tool.spec.name: (tool.spec.input_schema, tool.spec.effect) for tool in tools}
            return found
        finally:
            await source.aclose()

    names = json.loads(SERVERS.read_text(encoding="utf-8"))["mcpServers"].keys()
    for name, operations in asyncio.run(offered()).items():
        wanted = {entry["name"]: entry for entry in listed(name)}
        assert operations.keys() == wanted.keys()
        for operation, (schema, effect) in operations.items():
            served = without_patterns(dict(wanted[operation]["inputSchema"]))  # as a run takes it from any server
            assert isinstance(served, dict)
            assert schema == closed(served)
            assert effect == ("read" if wanted[operation]["readOnly"] else "write")


def test_what_is_answered_is_of_the_catalogs_operations() -> None:
    """A name that the catalog does not have would never be answered."""
    for tool, results in answers().items():
        known = {operation.name for operation in shipped(tool).operations or ()}
        assert set(results) <= known, tool


@pytest.mark.parametrize("arguments", [[], ["nothing"], ["freee"]])
@pytest.mark.usefixtures("checkout")
def test_a_wrong_command_says_how(arguments: list[str]) -> None:
    """No tool, none of the catalog, or an API without the file that says where it is."""
    command = [sys.executable, "-m", "examples.server", *arguments]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 2
    assert "python -m examples.server TOOL" in ran.stderr
