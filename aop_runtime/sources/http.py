"""Operations of HTTP APIs as tools: exactly the granted ones, as the manifest pins them. Nothing here loads a client
before one is called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aop_runtime.declarations import Handover, Http, Json
from aop_runtime.manifest import Manifest
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.http_request import Route, base_of, route_of
from aop_runtime.sources.limits import Limits
from aop_runtime.sources.pins import operation_pin, spec_of
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.redaction import Secrets
from aop_runtime.sources.schemas import NO_ARGUMENTS
from aop_runtime.sources.servers import bearer, named_credentials

if TYPE_CHECKING:
    from aop_runtime.sources.http_client import Api


class HttpSource:
    """See `connectors.Connectors`."""

    def __init__(self, manifest: Manifest, environment: Mapping[str, str], limits: Limits) -> None:
        self._manifest = manifest
        self._environment = environment
        self._limits = limits
        self._apis: dict[str, Api] = {}
        self._closed = False

    async def operation_tools(self, grant: Http | Handover) -> tuple[Tool, ...]:
        """Raises SourceFault."""
        if grant.operations is None:
            raise SourceFault("http.no-operations", tool=grant.tool)
        self._base(grant.tool)
        return tuple(self._tool(grant.tool, name, grant.read_only) for name in dict.fromkeys(grant.operations))

    async def aclose(self) -> None:
        self._closed = True
        apis, self._apis = list(self._apis.values()), {}
        for api in apis:
            await api.aclose()

    def api(self, tool: str) -> Api:
        """Raises SourceFault."""
        from aop_runtime.sources.http_client import Api  # noqa: PLC0415 - a client takes a tenth of a second to load

        if self._closed:
            raise SourceFault("source.ended", tool=tool)
        if tool not in self._apis:
            pin = self._manifest.tools[tool]
            variables = pin.server.credentials if pin.server is not None else ()
            credentials = named_credentials(tool, variables, self._environment)
            headers, secrets = bearer(tool, credentials), Secrets(credentials.values())
            self._apis[tool] = Api(self._base(tool), headers, secrets, self._limits)
        return self._apis[tool]

    def _base(self, tool: str) -> str:
        pin = self._manifest.tools.get(tool)
        if pin is None or pin.server is None or pin.server.url is None:
            raise SourceFault("http.nowhere", tool=tool)
        return base_of(tool, pin.server.url)

    def _tool(self, tool: str, name: str, read_only: bool) -> Tool:
        pin = operation_pin(self._manifest, tool, name, read_only)
        schema = NO_ARGUMENTS if pin.input_schema is None else pin.input_schema
        spec = spec_of(pin, schema)
        return Tool(spec, _Request(self, spec, route_of(spec.address, pin.contract, schema)))


@dataclass(frozen=True, slots=True)
class _Request:
    """A `Handler`."""

    source: HttpSource
    spec: ToolSpec
    route: Route

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
        try:
            api = self.source.api(self.spec.tool)
        except SourceFault as fault:
            raise ToolFailure("dependency_failure", str(fault)) from fault
        return await api.call(self.spec, self.route.filled(arguments))
