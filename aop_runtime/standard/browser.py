"""The standard tool `browser`: an MCP browser server, of which a phase gets what its granted words allow.

The server is the entry `browser` of the `mcpServers` file, else `@playwright/mcp` by `npx`. Without a profile a browser
keeps nothing; a named profile has a folder of its own, where a person may have signed in before.
"""

from __future__ import annotations

import re
import tempfile
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from aop_runtime.declarations import Json, Standard
from aop_runtime.messages import reason
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.first_lists import FirstLists
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.mcp import FROM_SERVER, Pool
from aop_runtime.sources.protocol import Grant, SourceFault
from aop_runtime.sources.schemas import Schema, closed
from aop_runtime.sources.servers import Server, ServerEntry, configured, fold
from aop_runtime.sources.words import one_line
from aop_runtime.standard.browser_table import ADDRESSES, FILES, effect, granted

TOOL: Final = "browser"
PACKAGE: Final = "@playwright/mcp@0.0.83"

_DEFAULT: Final = ServerEntry(command="npx", args=("-y", PACKAGE, "--headless"))
_PROFILE: Final = re.compile(r"[^\W_][\w.-]{0,63}\Z")
_CLOSE: Final = "browser_close"
_TIMEOUT_S: Final = 120.0
"""Pages are slow, and a browser has to start."""


class BrowserSource:
    """A `Source`. `profiles`: the folder of the named profiles. `lists`: see `connectors.Connectors`."""

    def __init__(
        self,
        servers: Mapping[str, ServerEntry],
        profiles: Path,
        environment: Mapping[str, str],
        limits: Limits = Limits(),  # noqa: B008 - immutable
        lists: FirstLists = FirstLists(),  # noqa: B008 - keeps nothing
    ) -> None:
        self._entry = servers.get(TOOL, _DEFAULT)
        self._profiles = profiles
        self._environment = environment
        self._limits = limits
        self._pool = Pool(limits, lists)
        self._scratch: tempfile.TemporaryDirectory[str] | None = None

    def accepts(self, grant: Grant) -> bool:
        return isinstance(grant, Standard) and fold(grant.tool) == TOOL

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        """Raises SourceFault."""
        if not isinstance(grant, Standard):
            raise SourceFault("browser.other-tool", tool=grant.tool, browser=TOOL)
        unknown = set(grant.options) - {"profile"}
        if unknown:
            raise SourceFault("browser.setting", tool=TOOL, names=", ".join(sorted(unknown)))
        server = self._server(grant.options.get("profile"))
        remote = self._pool.remote(server.name, lambda: server)
        first = await remote.first(TOOL)
        wanted = [name for name in granted(grant.operations, read_only=grant.read_only) if name in first]
        if not wanted:
            raise SourceFault("browser.nothing", tool=TOOL, package=PACKAGE)
        tools: list[Tool] = []
        for name in wanted:
            live = first[name]
            spec = ToolSpec(
                name=name,
                tool=TOOL,
                operation=name,
                description=FROM_SERVER + one_line(live.description, self._limits.description),
                input_schema=closed(live.input_schema, FILES),
                effect=effect(name),
                timeout_s=_TIMEOUT_S,
            )
            tools.append(Tool(spec, _Call(self._pool, server, spec, live.input_schema)))
        return tools

    async def aclose(self) -> None:
        # A browser that is not closed by itself is killed with its server, and stores nothing of its profile.
        await self._pool.aclose(last=_CLOSE)
        if self._scratch is not None:
            self._scratch.cleanup()
            self._scratch = None

    def _server(self, profile: str | None) -> Server:
        """One server a profile, in an empty folder: what it stores by itself lies there. Raises SourceFault."""
        server = configured(TOOL, self._entry, self._environment)
        if server.transport == "http":
            if profile is not None:
                raise SourceFault("browser.one-profile", tool=TOOL)
            return server
        if self._scratch is None:
            self._scratch = tempfile.TemporaryDirectory(prefix="aop-browser-", ignore_cleanup_errors=True)
        cwd = Path(self._scratch.name)
        kept: tuple[str, ...] = ("--isolated",)
        if profile is not None:
            kept = ("--user-data-dir", str(profile_folder(self._profiles, profile)))
        name = TOOL if profile is None else f"{TOOL} (profile: {profile})"
        fixed = ("--output-dir", str(cwd), "--image-responses", "omit")
        env = {**server.env, "TMPDIR": str(cwd)}
        return replace(server, name=name, args=(*server.args, *fixed, *kept), env=env, cwd=cwd)


def profile_folder(profiles: Path, name: str) -> Path:
    """A named profile's folder, made for its owner alone. Raises SourceFault for a name that may lead elsewhere."""
    plain = unicodedata.normalize("NFC", name)
    if not _PROFILE.match(plain) or plain.endswith("."):
        raise SourceFault("browser.profile-name", tool=TOOL, name=one_line(name, 80))
    folder = profiles.absolute() / plain
    try:
        profiles.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        if folder.is_symlink() or not folder.is_dir():
            raise SourceFault("browser.no-profile", tool=TOOL, folder=str(folder))
    except OSError as error:
        raise SourceFault("browser.profile-folder", tool=TOOL, folder=str(folder), reason=reason(error)) from error
    return folder


@dataclass(frozen=True, slots=True)
class _Call:
    """A `Handler`."""

    pool: Pool
    server: Server
    spec: ToolSpec
    input_schema: Schema

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
        from aop_runtime.sources.mcp_remote import Wanted  # noqa: PLC0415 - loads the SDK

        spec = self.spec
        check_address(spec.operation, arguments)
        wanted = Wanted(
            address=spec.address,
            operation=spec.operation,
            effect=spec.effect,
            input_schema=self.input_schema,
            output_schema=None,
            timeout_s=spec.timeout_s,
            unknown=True,
        )
        try:
            remote = self.pool.remote(self.server.name, lambda: self.server)
        except SourceFault as fault:
            raise ToolFailure("dependency_failure", str(fault)) from fault
        return await remote.call(wanted, arguments, context.progress)


def check_address(operation: str, arguments: Mapping[str, Json]) -> None:
    """Pages of the web only: no files, no scripts, no pages of the browser itself. Raises ToolFailure."""
    name = ADDRESSES.get(operation)
    value = None if name is None else arguments.get(name)
    if value is None:
        return
    try:
        fits = isinstance(value, str) and urlsplit(value.strip()).scheme.lower() in ("http", "https")
    except ValueError:
        fits = False
    if not fits:
        raise ToolFailure(
            "invalid_input", f"{TOOL}.{operation}: {name} must begin with https:// or http://", {"argument": str(name)}
        )
