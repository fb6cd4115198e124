"""Loading a catalog: the shipped one or files in its place, and the servers of an `mcpServers` file.

What was read once is kept compiled, found by the digest of the files' bytes; only a miss imports PyYAML and the checks.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from catalog import cache
from catalog.compiled import decode
from catalog.errors import MAX_BYTES, CatalogError
from catalog.snapshot import Catalog

SHIPPED = Path(__file__).parent / "data"


def load_catalog(
    files: Sequence[Path] | None = None, mcp_config: Path | None = None, cache_dir: Path | None = None
) -> Catalog:
    """The shipped catalog, or `files` in its place (merged, later ones win a name), and the servers of `mcp_config`.

    `cache_dir`: where compiled catalogs may be kept; it need not exist or be writable. Raises CatalogError.
    """
    own = [] if cache_dir is None else [cache_dir]
    # As with .pyc files: compiled beside the source where that is allowed, which serves every project at once.
    readable = [SHIPPED / "__pycache__", *own] if files is None and mcp_config is None else own
    writable = own if sys.dont_write_bytecode else readable
    sources = [(path, _bytes(path)) for path in (sorted(SHIPPED.glob("*.yaml")) if files is None else files)]
    servers = None if mcp_config is None else (mcp_config, _bytes(mcp_config))
    key = cache.key_of([content for _, content in sources] + ([b"mcpServers", servers[1]] if servers else []))
    for folder in readable:
        cached = cache.read(folder, key)
        entries = None if cached is None else decode(cached)
        if entries is not None:
            return Catalog(entries)
    from catalog.source import compile_sources  # noqa: PLC0415 — brings PyYAML and the checks: tens of milliseconds

    entries, encoded = compile_sources(sources, servers)
    for folder in writable:
        if cache.write(folder, key, encoded):
            break
    return Catalog(entries)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        detail = getattr(error, "strerror", None) or str(error)
        raise CatalogError(str(path), None, "file-unreadable", detail=detail) from error
    if len(content) > MAX_BYTES:
        raise CatalogError(str(path), None, "file-too-large", limit=MAX_BYTES)
    return content
