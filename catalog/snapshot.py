"""A loaded catalog: immutable, answers by dictionary, and builds a tool only when somebody asks for it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from catalog.compiled import Damaged, Entry
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.model import Tool

if TYPE_CHECKING:
    from catalog.lock import Lock, LockedTool
    from catalog.suggest import Suggester

MAX_SUGGESTIONS = 5

NO_ADDRESSES: Final[Mapping[str, str]] = MappingProxyType({})

SUGGESTIONS_VERSION = "3"
"""Raise it when the same catalog would suggest something else."""


class Catalog:
    """Implements `catalog.view.CatalogView`. Entries have different folded names; their order means nothing."""

    def __init__(
        self,
        entries: Iterable[Entry],
        compile_again: Callable[[], Iterable[Entry]],
        addresses: Mapping[str, str] = NO_ADDRESSES,
        lock: Lock | None = None,
    ) -> None:
        """`compile_again`: gives the same entries afresh, for the day on which one turns out to be damaged.

        `addresses`: by folded name, the `definition` of the server that a tool is reached at, in place of its own.
        `lock`: what the tools are compared with.
        """
        self._entries = {fold(entry.name): entry for entry in sorted(entries, key=lambda entry: fold(entry.name))}
        self._compile_again = compile_again
        self._addresses = dict(addresses)
        self._lock = lock
        self._built: dict[str, Tool] = {}

    def self_contained(self) -> Catalog:
        """The same with all that it needs, wherever it was read from: it can be pickled, also while other threads ask
        this one. Raises OSError where a section cannot be read."""
        entries = [entry._replace(packed=partial(bytes, entry.packed())) for entry in self._entries.values()]
        return Catalog(entries, partial(list[Entry], entries), self._addresses, self._lock)

    def with_lock(self, lock: Lock) -> Catalog:
        """The same tools beside a lock."""
        return Catalog(self._entries.values(), self._compile_again, self._addresses, lock)

    @cached_property
    def digest(self) -> str:
        """Of every tool, of the lock, and of the rules by which suggestions are found."""
        parts = [SUGGESTIONS_VERSION, *(entry.digest for entry in self._entries.values())]
        parts += [f"{name} {self._addresses[name]}" for name in sorted(self._addresses)]
        parts += [] if self._lock is None else [self._lock.digest]
        return sha256("\n".join(parts).encode()).hexdigest()

    def tool(self, name: str) -> Tool | None:
        key = fold(name)
        built = self._built.get(key)
        if built is None:
            entry = self._entries.get(key)
            if entry is None:
                return None
            built = self._built[key] = self._addressed(key, self._unpack(key, entry))
        return built

    def _unpack(self, key: str, entry: Entry) -> Tool:
        try:
            return entry.tool()
        except Damaged:
            afresh = {fold(other.name): other for other in self._compile_again()}
            if key not in afresh or afresh[key].digest != entry.digest:
                raise CatalogError(entry.name, None, "file-changed") from None
            self._entries = afresh
            return afresh[key].tool()

    def _addressed(self, key: str, tool: Tool) -> Tool:
        address = self._addresses.get(key)
        if address is None:
            return tool
        digest = sha256(f"{tool.digest}\n{address}".encode()).hexdigest()
        definition = {**json.loads(tool.definition), **json.loads(address)}
        text = json.dumps(definition, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return tool._replace(digest=digest, definition=text)

    def tools(self) -> tuple[Tool, ...]:
        """All of them, by folded name."""
        return tuple(tool for name in self._entries if (tool := self.tool(name)) is not None)

    def locked(self, name: str) -> LockedTool | None:
        return None if self._lock is None else self._lock.tool(name)

    def connectors(self) -> tuple[str, ...]:
        return self._connectors

    @cached_property
    def _connectors(self) -> tuple[str, ...]:
        return tuple(sorted(entry.name for entry in self._entries.values() if entry.kind != "standard"))

    def known_word(self, word: str) -> bool:
        return fold(word) in self._known_words

    @cached_property
    def _known_words(self) -> frozenset[str]:
        return frozenset(fold(word) for entry in self._entries.values() for word in (entry.title, *entry.hints))

    @cached_property
    def _suggester(self) -> Suggester:
        from catalog.suggest import Suggester  # noqa: PLC0415 — a document without a mistake never needs it

        return Suggester(tuple(self._entries.values()))

    def suggest_tools(self, name: str, category: str | None) -> tuple[str, ...]:
        return self._suggester.tools(name, category)[:MAX_SUGGESTIONS]

    def suggest_categories(self, tool: Tool, category: str) -> tuple[str, ...]:
        return self._suggester.categories(tool, category)[:MAX_SUGGESTIONS]

    def receivers(self, read_only: bool) -> tuple[str, ...]:
        """By name."""
        found = (entry for entry in self._entries.values() if entry.kind == "mcp")
        names = (entry.name for entry in found if (entry.reads_text if read_only else entry.writes_text))
        return tuple(names)[:MAX_SUGGESTIONS]
