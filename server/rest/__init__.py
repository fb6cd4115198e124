"""REST: documents, their jobs, tools, health. Each module lists its `routes`."""

from __future__ import annotations

from starlette.routing import BaseRoute

from server.rest import documents, health, jobs, recompiles, tools
from server.service import Service


def routes(service: Service) -> list[BaseRoute]:
    return [route for part in (health, documents, jobs, recompiles, tools) for route in part.routes(service)]
