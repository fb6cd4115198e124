"""The standard tool `browser`; what is marked so by `@playwright/mcp` and Chromium on a local page (`make browser`)."""

from __future__ import annotations

import http.server
import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from aop_runtime.declarations import Standard
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.servers import ServerEntry
from aop_runtime.standard.browser import BrowserSource, profile_folder
from aop_runtime.standard.browser_table import OPERATIONS
from tests.catalog_live.live import MODULES, NODE
from tests.runtime.servers.catalog_server import CatalogServer, gone_within
from tests.runtime.sources.given import call, entries, failure, named, run

READ = Standard("browser", categories=("read",), operations=("read", "navigation"))
MOVE = Standard("browser", categories=("navigation",), operations=("navigation",))
INTERACT = Standard("browser", categories=("interact",), operations=("read", "navigation", "interact"))

PAGE = """<!doctype html><meta charset="utf-8"><title>価格</title>
<h1>標準プラン 月額 12,000 円</h1><p id="seen"></p>
<form action="/sent" method="post"><input name="q" aria-label="品目"><button>送る</button></form>
<script>
document.cookie.includes("known=1") ? seen.textContent = "二度目" : document.cookie = "known=1; max-age=999999";
</script>"""


class Site(http.server.BaseHTTPRequestHandler):
    seen: list[str]

    def do_GET(self) -> None:
        self.answer(PAGE)

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.seen.append(self.rfile.read(size).decode())
        self.answer("<h1>受け付けました</h1>")

    def answer(self, page: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        self.wfile.write(page.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def site() -> Iterator[tuple[str, list[str]]]:
    """A page's address, and the forms that were sent to it."""
    seen: list[str] = []
    handler = type("Handler", (Site,), {"seen": seen})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", seen
        server.shutdown()


def entry() -> dict[str, ServerEntry]:
    chromium = shutil.which("chromium")
    assert chromium is not None, "apt-get install chromium"
    script = str(MODULES.parent / "@playwright" / "mcp" / "cli.js")
    # As root, which tests often are, Chromium's own walls cannot be built.
    walls = ("--no-sandbox",) if os.geteuid() == 0 else ()
    return {
        "browser": ServerEntry(command=str(NODE), args=(script, "--headless", "--executable-path", chromium, *walls))
    }


def browser(folder: Path) -> BrowserSource:
    return BrowserSource(entry(), folder / "profiles", os.environ, Limits())


@pytest.mark.browser
def test_reading_reads_and_cannot_click(tmp_path: Path, site: tuple[str, list[str]]) -> None:
    """`browser の read`: pages are opened and read; what operates them does not exist."""

    async def check() -> None:
        source = browser(tmp_path)
        tools = await source.tools(READ)
        names = {tool.spec.operation for tool in tools}
        assert names == {name for name, word in OPERATIONS.items() if word != "interact"}
        assert all(tool.spec.effect == "read" for tool in tools)
        assert all("filename" not in tool.spec.input_schema["properties"] for tool in tools)  # type: ignore[operator]
        await call(named(tools, "browser_navigate"), {"url": site[0]})
        assert "標準プラン 月額 12,000 円" in (await call(named(tools, "browser_snapshot"))).content
        assert site[1] == []
        await source.aclose()
        assert gone_within(60, text="aop-browser-")

    run(check())


@pytest.mark.browser
def test_words_decide_what_there_is(tmp_path: Path, site: tuple[str, list[str]]) -> None:
    """Moving about alone reads nothing; interacting fills in and sends a form."""

    async def check() -> None:
        source = browser(tmp_path)
        moving = {tool.spec.operation for tool in await source.tools(MOVE)}
        assert moving == {name for name, word in OPERATIONS.items() if word == "navigation"}
        tools = await source.tools(INTERACT)
        assert {tool.spec.operation for tool in tools} == set(OPERATIONS)
        assert {tool.spec.operation for tool in tools if tool.spec.effect == "write"} == {
            name for name, word in OPERATIONS.items() if word == "interact"
        }
        await call(named(tools, "browser_navigate"), {"url": site[0]})
        shown = (await call(named(tools, "browser_snapshot"))).content
        field = re.search(r'textbox "品目".*?\[ref=(\w+)\]', shown)
        button = re.search(r'button "送る".*?\[ref=(\w+)\]', shown)
        assert field is not None
        assert button is not None
        await call(named(tools, "browser_type"), {"target": field[1], "text": "A 100"})
        await call(named(tools, "browser_click"), {"target": button[1]})
        assert site[1] == ["q=A+100"]
        await source.aclose()

    run(check())


@pytest.mark.browser
@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "javascript:1", "chrome://version", "about:blank", "etc", "http"]
)
def test_only_pages_of_the_web(tmp_path: Path, url: str) -> None:
    """No files of this machine, no scripts, nothing of the browser's own."""

    async def check() -> None:
        source = browser(tmp_path)
        tools = await source.tools(READ)
        assert (await failure(named(tools, "browser_navigate"), {"url": url})).code == "invalid_input"
        assert (await failure(named(tools, "browser_tabs"), {"action": "new", "url": url})).code == "invalid_input"
        await source.aclose()

    run(check())


@pytest.mark.browser
def test_a_named_profile_remembers_and_none_forgets(tmp_path: Path, site: tuple[str, list[str]]) -> None:
    """Each profile in a folder of its own; without one, a browser begins anew in every run."""

    async def visit(profile: str | None) -> str:
        source = browser(tmp_path)
        options = {} if profile is None else {"profile": profile}
        tools = await source.tools(
            Standard("browser", categories=("read",), operations=READ.operations, options=options)
        )
        await call(named(tools, "browser_navigate"), {"url": site[0]})
        shown = (await call(named(tools, "browser_snapshot"))).content
        await source.aclose()
        return shown

    async def check() -> None:
        assert "二度目" not in await visit("grafana-viewer")
        assert "二度目" in await visit("grafana-viewer")
        assert "二度目" not in await visit("別の人")
        assert "二度目" not in await visit(None)
        assert "二度目" not in await visit(None)
        folder = tmp_path / "profiles" / "grafana-viewer"
        assert folder.stat().st_mode & 0o777 == 0o700

    run(check())


@pytest.mark.parametrize("name", ["../x", "..", "", "a/b", "a\\b", ".hidden", "-x", "a\0", "x" * 65, "a b", "x."])
def test_a_profiles_name_leads_nowhere_else(tmp_path: Path, name: str) -> None:
    """It is refused, and nothing is made."""
    with pytest.raises(SourceFault, match="cannot be a profile"):
        profile_folder(tmp_path / "profiles", name)
    assert list(tmp_path.rglob("*")) == []


def test_a_profile_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """It could lead to another's."""
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "me").symlink_to(tmp_path)
    with pytest.raises(SourceFault, match="no folder of a profile"):
        profile_folder(tmp_path / "profiles", "me")
    assert profile_folder(tmp_path / "profiles", "担当-1").is_dir()


def test_what_only_reads_gets_nothing_that_writes(tmp_path: Path) -> None:
    """Whatever word was granted, and whatever the server says of its operations."""
    listed = [
        {"name": name, "description": name, "inputSchema": {"type": "object"}, "readOnly": True}
        for name in ("browser_snapshot", "browser_navigate", "browser_click", "browser_evaluate")
    ]

    async def check() -> None:
        with CatalogServer(["browser"], operations={"browser": listed}) as server:
            source = BrowserSource(entries(server), tmp_path, os.environ)
            words = ("read", "navigation", "interact")
            effects = {
                tool.spec.name: tool.spec.effect for tool in await source.tools(Standard("browser", operations=words))
            }
            assert effects == {"browser_snapshot": "read", "browser_navigate": "read", "browser_click": "write"}
            reading = await source.tools(Standard("browser", read_only=True, operations=words))
            assert {tool.spec.name for tool in reading} == {"browser_snapshot", "browser_navigate"}
            await source.aclose()

    run(check())


def test_a_server_that_is_no_browser(tmp_path: Path) -> None:
    """A fault that names what would be one."""

    async def check() -> None:
        with CatalogServer(["slack"]) as server:
            source = BrowserSource({"browser": entries(server)["slack"]}, tmp_path, os.environ)
            with pytest.raises(SourceFault, match="playwright"):
                await source.tools(READ)
            await source.aclose()

    run(check())


def test_a_profile_needs_a_server_of_our_own(tmp_path: Path) -> None:
    """One by HTTP has a profile already, which is not ours to choose."""

    async def check() -> None:
        source = BrowserSource({"browser": ServerEntry(url="http://127.0.0.1:9/mcp")}, tmp_path, {})
        with pytest.raises(SourceFault, match="one profile"):
            await source.tools(Standard("browser", operations=("read",), options={"profile": "me"}))
        with pytest.raises(SourceFault, match="no setting"):
            await source.tools(Standard("browser", operations=("read",), options={"proxy": "me"}))
        await source.aclose()

    run(check())
