"""What a live MCP server says of itself, and within which limits it may: plain values, no MCP SDK."""

from __future__ import annotations

from typing import NamedTuple

from catalog.nodes import Json


class Limits(NamedTuple):
    """Of one listing. `seconds` for all of it; `schema_bytes` of one tool's schemas and texts, as canonical JSON."""

    seconds: float = 30.0
    message_bytes: int = 4 << 20
    total_bytes: int = 16 << 20
    pages: int = 100
    tools: int = 1_000
    schema_bytes: int = 256 << 10


LIMITS = Limits()


class ListedTool(NamedTuple):
    """As a server lists it. `read_only`: of its annotations, None where it has none."""

    name: str
    description: str
    input_schema: dict[str, Json]
    output_schema: dict[str, Json] | None
    read_only: bool | None


class Listing(NamedTuple):
    """`server`: what it calls itself, with its version, "" where it does not say."""

    server: str
    tools: tuple[ListedTool, ...]


class ServerFault(Exception):
    """A server that cannot be listed. `reason`: a key of `SERVER_MESSAGES`, whose words also need the server's name."""

    def __init__(self, reason: str, **arguments: str | int) -> None:
        super().__init__(reason, arguments)
        self.reason = reason
        self.arguments = arguments
