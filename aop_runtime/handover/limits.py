"""How much a script may take. It is not trusted: its text is the document's, but its values are an agent's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

SecondWall = Literal["where possible", "required", "off"]
"""The wall of namespaces around Deno, which is a wall itself. `where possible`: where the host allows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxLimits:
    """`wall_s`: without the time of the calls that it makes. `memory_bytes`: all that it can write to; half of it Deno
    takes for itself. `heap_mib`: of JavaScript's own. `output_bytes`: of standard output and of standard error.
    `message_bytes`: of one call; `calls`: of one run. `result_characters`: of the result of a call."""

    wall_s: float = 60.0
    cpu_s: int = 60
    memory_bytes: int = 1024 * 1024 * 1024
    heap_mib: int = 256
    output_bytes: int = 1024 * 1024
    message_bytes: int = 8 * 1024 * 1024
    calls: int = 1_000
    result_characters: int = 4_000_000
    open_files: int = 64
    processors: int = 2
    second_wall: SecondWall = "where possible"
