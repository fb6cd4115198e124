"""What the resolve stage may ask of a catalog. Every answer is a *read* that the stage's trace records (R1): asking
again after the catalog changed tells whether the stage must run again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from catalog.model import Tool

if TYPE_CHECKING:
    from catalog.lock import LockedTool


class CatalogView(Protocol):
    """Names are given as written; the view compares them folded."""

    @property
    def digest(self) -> str:
        """Of everything in the catalog: equal digests answer every question equally."""
        ...

    def tool(self, name: str) -> Tool | None:
        """The tool of that name (not title, not hint)."""
        ...

    def locked(self, name: str) -> LockedTool | None:
        """What the lock records of the tool of that name; None where there is no lock, or nothing of it in there."""
        ...

    def connectors(self) -> tuple[str, ...]:
        """The names of all connectors (mcp, http), sorted: those whose mention is a warning (T9)."""
        ...

    def known_word(self, word: str) -> bool:
        """Whether `word` is a title or a hint of a tool (T5: such a word is unreadable, not unknown)."""
        ...

    def suggest_tools(self, name: str, category: str | None) -> tuple[str, ...]:
        """What to write for an item `NAME` or `NAME の CATEGORY` that names no tool (T5), best first, at most five."""
        ...

    def suggest_categories(self, tool: Tool, category: str) -> tuple[str, ...]:
        """`TOOL の CATEGORY` for the tool's categories, closest first, at most five (T6)."""
        ...

    def receivers(self, read_only: bool) -> tuple[str, ...]:
        """The MCP tools with an operation that receives text, reading or writing (V4, AOP307), at most five."""
        ...
