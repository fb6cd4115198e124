"""The connectors of one run: MCP servers and HTTP APIs, for phases and for what is handed over to them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from aop_runtime.declarations import Handover, Http, Mcp, Standard
from aop_runtime.manifest import Manifest
from aop_runtime.plane.spec import Tool
from aop_runtime.sources.first_lists import FirstLists
from aop_runtime.sources.http import HttpSource
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.mcp import McpSource
from aop_runtime.sources.protocol import Grant, SourceFault
from aop_runtime.sources.servers import ServerEntry


class Connectors:
    """A `Source`. `servers`: of an `mcpServers` file (`servers.read_servers`); they go before the manifest's addresses.
    `environment`: where credentials are looked up; nothing else of it is used but what `servers.inherited` names.
    `lists`: what MCP servers listed when the run first asked them."""

    def __init__(
        self,
        manifest: Manifest,
        servers: Mapping[str, ServerEntry],
        environment: Mapping[str, str],
        limits: Limits = Limits(),  # noqa: B008 - immutable
        lists: FirstLists = FirstLists(),  # noqa: B008 - keeps nothing
    ) -> None:
        self._manifest = manifest
        self._mcp = McpSource(manifest, servers, environment, limits, lists)
        self._http = HttpSource(manifest, environment, limits)

    def accepts(self, grant: Grant) -> bool:
        return isinstance(grant, Mcp | Http)

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        """Raises SourceFault."""
        if isinstance(grant, Standard):
            raise SourceFault("source.no-connector", tool=grant.tool)
        return await self.operation_tools(grant)

    async def operation_tools(self, grant: Mcp | Http | Handover) -> tuple[Tool, ...]:
        """Exactly the granted operations, each once; for a hand-over what its `Tool.inner` holds. Raises SourceFault.

        `spec.name` is the operation's own name: the registry makes names unique and fit for the wire.
        """
        if isinstance(grant, Http) or (isinstance(grant, Handover) and self._kind(grant.tool) == "http"):
            return await self._http.operation_tools(grant)
        return await self._mcp.operation_tools(grant)

    def _kind(self, tool: str) -> str:
        pin = self._manifest.tools.get(tool)
        return "mcp" if pin is None else pin.kind

    async def aclose(self) -> None:
        await asyncio.gather(self._mcp.aclose(), self._http.aclose())
