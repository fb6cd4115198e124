"""Loading a catalog: its layers read and put together.

What was read once is kept compiled; only a miss imports PyYAML and the checks. Files are found again by the digest of
their bytes, the shipped data by names, sizes and times, as .pyc files are: it is large, and little of it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

from catalog import cache
from catalog.compiled import Damaged, Entry, decode
from catalog.layers import Layer, Layers, Part, merge
from catalog.own import Own
from catalog.reading import read_bounded, unreadable
from catalog.snapshot import Catalog

SHIPPED = Path(__file__).parent / "data"

NOTHING = Own()

_Compile = Callable[[], list[Entry]]
"""Made of functions of this module and plain values, so that a catalog can be sent to another process."""


class _Part(NamedTuple):
    """Files of one layer. `again`: its entries, compiled afresh."""

    layer: Layer
    paths: tuple[Path, ...]
    entries: list[Entry]
    again: _Compile


def load_catalog(
    files: Sequence[Path] | None = None,
    mcp_config: Path | None = None,
    cache_dir: Path | None = None,
    own: Own = NOTHING,
) -> Catalog:
    """The shipped catalog, or `files` in its place (merged, later ones win a name); above it the project's `own` files
    and the servers of `mcp_config`, as `catalog.layers` says.

    `cache_dir`: where compiled catalogs may be kept; it need not exist or be writable. Raises CatalogError.
    """
    parts = _parts(files, mcp_config, cache_dir, own)
    layers = _merge(parts)
    entries = [tool.entry for tool in layers.tools.values()]
    addressed = {name: tool.address[0] for name, tool in layers.tools.items() if tool.address is not None}
    addresses = {name: _definition(server, parts[-1]) for name, server in addressed.items()}
    return Catalog(entries, partial(_compile_again, parts), addresses)


def load_layers(
    files: Sequence[Path] | None = None,
    mcp_config: Path | None = None,
    cache_dir: Path | None = None,
    own: Own = NOTHING,
) -> Layers:
    """Where each tool of `load_catalog` comes from, and what it replaces. Raises CatalogError."""
    return _merge(_parts(files, mcp_config, cache_dir, own))


def _parts(
    files: Sequence[Path] | None, mcp_config: Path | None, cache_dir: Path | None, own: Own
) -> tuple[_Part, ...]:
    folders = () if cache_dir is None else (cache_dir,)
    parts = [_shipped(folders) if files is None else _given("catalog", files, folders)]
    if own.imported:
        parts.append(_given("imported", own.imported, folders))
    parts += [_one("organisation", path, folders) for path in own.organisation]
    if mcp_config is not None:
        parts.append(_one("mcp.json", mcp_config, folders))
    return tuple(parts)


def _merge(parts: Sequence[_Part]) -> Layers:
    return merge(Part(part.layer, tuple(map(str, part.paths)), part.entries) for part in parts)


def _compile_again(parts: tuple[_Part, ...]) -> list[Entry]:
    afresh = _merge([part._replace(entries=part.again()) for part in parts])
    return [tool.entry for tool in afresh.tools.values()]


def _definition(server: Entry, part: _Part) -> str:
    """What a run needs to know of a server: the address that it gives to the tool of its name."""
    try:
        return server.tool().definition
    except Damaged:
        return next(entry for entry in part.again() if entry.name == server.name).tool().definition


def _shipped(own: tuple[Path, ...]) -> _Part:
    paths = sorted(SHIPPED.glob("*.yaml"))
    # As with .pyc files: compiled beside the source where that is allowed, which serves every project at once.
    folders = (SHIPPED / "__pycache__", *own)
    key = cache.key_of([_stamp(path) for path in paths])
    again = partial(_compile, partial(_compile_paths, paths), key, own if sys.dont_write_bytecode else folders)
    cached = _cached(key, folders)
    return _Part("shipped", tuple(paths), again() if cached is None else cached, again)


def _given(layer: Layer, files: Sequence[Path], own: tuple[Path, ...]) -> _Part:
    sources = [(path, read_bounded(path)) for path in files]
    key = cache.key_of([content for _, content in sources])
    again = partial(_compile, partial(_compile_files, sources), key, own)
    cached = _cached(key, own)
    return _Part(layer, tuple(files), again() if cached is None else cached, again)


def _one(layer: Literal["organisation", "mcp.json"], path: Path, own: tuple[Path, ...]) -> _Part:
    content = read_bounded(path)
    key = cache.key_of([layer.encode(), content])
    again = partial(_compile, partial(_compile_one, layer, path, content), key, own)
    cached = _cached(key, own)
    return _Part(layer, (path,), again() if cached is None else cached, again)


def _cached(key: str, folders: tuple[Path, ...]) -> list[Entry] | None:
    decoded = (decode(cache.section(folder, key)) for folder in folders)
    return next((entries for entries in decoded if entries is not None), None)


def _compile(compile_: _Compile, key: str, folders: tuple[Path, ...]) -> list[Entry]:
    """Compile, and keep it in the first of `folders` that can be written."""
    entries = compile_()
    if folders:
        from catalog.compile import encode  # noqa: PLC0415 — comes with what compiling imports

        content = encode(entries)
        any(cache.write(folder, key, content) for folder in folders)
    return entries


def _compile_paths(paths: list[Path]) -> list[Entry]:
    return _compile_files([(path, read_bounded(path)) for path in paths])


def _compile_files(sources: list[tuple[Path, bytes]]) -> list[Entry]:
    from catalog.source import compile_files  # noqa: PLC0415 — brings PyYAML and the checks: tens of milliseconds

    return compile_files(sources)


def _compile_one(layer: Literal["organisation", "mcp.json"], path: Path, content: bytes) -> list[Entry]:
    from catalog.source import compile_layer, compile_servers  # noqa: PLC0415 — as above

    return compile_layer(path, content) if layer == "organisation" else compile_servers(path, content)


def _stamp(path: Path) -> bytes:
    try:
        status = path.stat()
    except OSError as error:
        raise unreadable(path, error) from error
    return f"{path.name} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}".encode()
