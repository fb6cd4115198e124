"""How much a server may take: of time, of memory, of our attention. A server is not trusted."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """`connect_s`: until a server is up and has listed its operations. `message_bytes`: one message or response.
    `flood_bytes`: what a server says between two answers. `recheck_s`: how old what it listed may be when it is
    relied upon; a server that announces changes is asked again at once."""

    connect_s: float = 30.0
    message_bytes: int = 8 * 1024 * 1024
    flood_bytes: int = 32 * 1024 * 1024
    messages: int = 100_000
    """Of a server on a connection, between two answers."""
    requests: int = 1_000
    """Of a server to us, between two answers: each takes a reply of ours."""
    pages: int = 100
    operations: int = 1_000
    listed_bytes: int = 16 * 1024 * 1024
    operation_bytes: int = 256 * 1024
    description: int = 2_000
    """Code points of a server's own description of an operation."""
    words: int = 1_000
    """Code points of a server's own words in the message of a failure."""
    recheck_s: float = 30.0
