"""Which of several layers' tools counts: shipped ← imported ← organisation ← `mcp.json`.

From below: the shipped catalog, or the `--catalog` files in its place; what was imported from servers, which only fills
in names that nobody below has; the organisation's files, whose tools replace those of the same name whole and whose
`remove` takes tools away; the servers of an `mcpServers` file, which give an MCP tool of their name, or the standard
browser, its address and nothing else, and are tools of unknown operations otherwise (T11). Names are compared folded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

from catalog.compiled import Entry
from catalog.errors import CatalogError
from catalog.fold import fold

Layer = Literal["shipped", "catalog", "imported", "organisation", "mcp.json"]

_SERVED: Final = frozenset({"browser"})
"""Standard tools that a run reaches through an MCP server, so that `mcp.json` may say which (docs/connectors.md)."""


class Part(NamedTuple):
    """Files of one layer, merged. An entry's `file` is an index of `files`."""

    layer: Layer
    files: tuple[str, ...]
    entries: Sequence[Entry]

    def place(self, entry: Entry) -> Place:
        return Place(self.layer, self.files[entry.file], entry.line)


class Place(NamedTuple):
    """Where something is written. `line`: 1-based."""

    layer: Layer
    file: str
    line: int


class Layered(NamedTuple):
    """The tool that counts. `over`: those that it replaced, the topmost first; `beside`: imported ones that do not
    count; `address`: the server that gives it its address."""

    entry: Entry
    place: Place
    over: tuple[Place, ...] = ()
    beside: tuple[Place, ...] = ()
    address: tuple[Entry, Place] | None = None


class Removed(NamedTuple):
    name: str
    by: Place
    what: tuple[Place, ...]


class Layers(NamedTuple):
    """`tools` by folded name; `removed` those that are gone and did not come back."""

    tools: dict[str, Layered]
    removed: tuple[Removed, ...]


def merge(parts: Iterable[Part]) -> Layers:
    """The parts from below. Raises CatalogError for what cannot be meant, at its line."""
    tools: dict[str, Layered] = {}
    removed: dict[str, Removed] = {}
    for part in parts:
        for entry in part.entries:
            name, place = fold(entry.name), part.place(entry)
            below = tools.get(name)
            if entry.removes:
                if below is None:
                    raise CatalogError(place.file, place.line, "remove-unknown", name=entry.name)
                removed[name] = Removed(below.entry.name, place, (below.place, *below.over, *below.beside))
                del tools[name]
            elif below is None:
                tools[name] = Layered(entry, place)
                removed.pop(name, None)
            else:
                tools[name] = _over(below, entry, place)
    return Layers(tools, tuple(removed[name] for name in sorted(removed)))


def _over(below: Layered, entry: Entry, place: Place) -> Layered:
    if place.layer == "imported":
        return Layered(below.entry, below.place, below.over, (*below.beside, place))
    if place.layer == "mcp.json":
        if below.entry.kind != "mcp" and fold(entry.name) not in _SERVED:
            arguments = {"name": entry.name, "other": below.entry.name, "kind": below.entry.kind}
            raise CatalogError(place.file, place.line, "server-is-tool", **arguments)
        return Layered(below.entry, below.place, below.over, below.beside, (entry, place))
    return Layered(entry, place, (below.place, *below.over), below.beside)
