"""What every source of tools is to the registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from aop_runtime.declarations import Handover, Http, Mcp, Standard
from aop_runtime.faults import Fault
from aop_runtime.plane.spec import Tool

Grant = Mcp | Http | Standard | Handover


class SourceFault(Fault):
    """A source cannot provide what a phase was granted (server not reachable, operation gone, program missing).

    The message says which tool, what is wrong and what to do; it holds no credential.
    """


class Source(Protocol):
    """Provides the tools of the grants that it accepts."""

    def accepts(self, grant: Grant) -> bool: ...

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        """Exactly the granted operations. Raises `SourceFault` where one of them cannot be had."""
        ...

    async def aclose(self) -> None:
        """End connections and processes; nothing of them is left afterwards. May be called twice."""
        ...
