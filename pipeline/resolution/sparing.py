"""Suggestions have an end in a document that is all mistakes.

One compares a word with all words of the catalog, or with all names of a project: a hundred times the work of finding
out that it is unknown. Nobody reads thousands of them, and a document of a megabyte may hold half a million mistakes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from catalog.model import Tool
from catalog.view import CatalogView

if TYPE_CHECKING:
    from catalog.lock import LockedTool

MOST_WORDS: Final = 10_000
MOST_DOCUMENTS: Final = 1_000


class Allowance:
    """For so many different questions; one that was asked before may be asked again."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._asked: set[tuple[str, ...]] = set()

    def covers(self, *question: str) -> bool:
        if question in self._asked:
            return True
        if len(self._asked) >= self._most:
            return False
        self._asked.add(question)
        return True


class SparingCatalog:
    """A `CatalogView` for one document, which suggests something for its first different mistakes."""

    def __init__(self, view: CatalogView, allowance: Allowance) -> None:
        self._view = view
        self._allowance = allowance

    @property
    def digest(self) -> str:
        return self._view.digest

    def tool(self, name: str) -> Tool | None:
        return self._view.tool(name)

    def locked(self, name: str) -> LockedTool | None:
        return self._view.locked(name)

    def connectors(self) -> tuple[str, ...]:
        return self._view.connectors()

    def known_word(self, word: str) -> bool:
        return self._view.known_word(word)

    def suggest_tools(self, name: str, category: str | None) -> tuple[str, ...]:
        asked = self._allowance.covers("tool", name, category or "")
        return self._view.suggest_tools(name, category) if asked else ()

    def suggest_categories(self, tool: Tool, category: str) -> tuple[str, ...]:
        asked = self._allowance.covers("category", tool.name, category)
        return self._view.suggest_categories(tool, category) if asked else ()

    def receivers(self, read_only: bool) -> tuple[str, ...]:
        return self._view.receivers(read_only)
