"""Loading a catalog: the shipped one or files in its place, and the servers of an `mcpServers` file.

What was read once is kept compiled; only a miss imports PyYAML and the checks. Files are found again by the digest of
their bytes, the shipped data by names, sizes and times, as .pyc files are: it is large, and little of it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from catalog import cache
from catalog.compiled import Entry, decode
from catalog.errors import MAX_BYTES, CatalogError
from catalog.fold import fold
from catalog.snapshot import Catalog

SHIPPED = Path(__file__).parent / "data"

_Compile = Callable[[], list[Entry]]
"""Made of functions of this module and plain values, so that a catalog can be sent to another process."""


def load_catalog(
    files: Sequence[Path] | None = None, mcp_config: Path | None = None, cache_dir: Path | None = None
) -> Catalog:
    """The shipped catalog, or `files` in its place (merged, later ones win a name), and the servers of `mcp_config`.

    `cache_dir`: where compiled catalogs may be kept; it need not exist or be writable. Raises CatalogError.
    """
    own = () if cache_dir is None else (cache_dir,)
    tools, tools_again = _shipped(own) if files is None else _given(files, own)
    if mcp_config is None:
        return Catalog(tools, tools_again)
    servers, servers_again = _servers(mcp_config, tools, own)
    return Catalog([*tools, *servers], partial(_both, tools_again, servers_again))


def _shipped(own: tuple[Path, ...]) -> tuple[list[Entry], _Compile]:
    paths = sorted(SHIPPED.glob("*.yaml"))
    # As with .pyc files: compiled beside the source where that is allowed, which serves every project at once.
    folders = (SHIPPED / "__pycache__", *own)
    key = cache.key_of([_stamp(path) for path in paths])
    again = partial(_compile, partial(_compile_paths, paths), key, own if sys.dont_write_bytecode else folders)
    cached = _cached(key, folders)
    return again() if cached is None else cached, again


def _given(files: Sequence[Path], own: tuple[Path, ...]) -> tuple[list[Entry], _Compile]:
    sources = [(path, _bytes(path)) for path in files]
    key = cache.key_of([content for _, content in sources])
    again = partial(_compile, partial(_compile_files, sources), key, own)
    cached = _cached(key, own)
    return again() if cached is None else cached, again


def _servers(path: Path, tools: list[Entry], own: tuple[Path, ...]) -> tuple[list[Entry], _Compile]:
    content = _bytes(path)
    names = [entry.name for entry in tools]
    key = cache.key_of([b"mcpServers", content])
    again = partial(_compile, partial(_compile_servers, path, content, names), key, own)
    servers = _cached(key, own)
    # Servers that were compiled beside other tools may have a name of these; compiling refuses them with their line.
    if servers is None or not {fold(name) for name in names}.isdisjoint(fold(server.name) for server in servers):
        servers = again()
    return servers, again


def _both(tools: _Compile, servers: _Compile) -> list[Entry]:
    return [*tools(), *servers()]


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
    return _compile_files([(path, _bytes(path)) for path in paths])


def _compile_files(sources: list[tuple[Path, bytes]]) -> list[Entry]:
    from catalog.source import compile_files  # noqa: PLC0415 — brings PyYAML and the checks: tens of milliseconds

    return compile_files(sources)


def _compile_servers(path: Path, content: bytes, names: list[str]) -> list[Entry]:
    from catalog.source import compile_servers  # noqa: PLC0415 — as above

    return compile_servers(path, content, names)


def _stamp(path: Path) -> bytes:
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from error
    return f"{path.name} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}".encode()


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    if len(content) > MAX_BYTES:
        raise CatalogError(str(path), None, "file-too-large", limit=MAX_BYTES)
    return content


def _unreadable(path: Path, error: OSError | ValueError) -> CatalogError:
    return CatalogError(str(path), None, "file-unreadable", detail=getattr(error, "strerror", None) or str(error))
