"""Reading catalogs from disk: shipped data or files in its place, compiled once, and an `mcpServers` file's servers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from catalog import cache
from catalog.compiled import Entry, compile_tool
from catalog.definition import ToolDefinition
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.nodes import MAX_BYTES, Fault, Node
from catalog.snapshot import Catalog

SHIPPED = Path(__file__).parent / "data"


def load_catalog(
    files: Sequence[Path] | None = None, mcp_config: Path | None = None, cache_dir: Path | None = None
) -> Catalog:
    """The shipped catalog, or `files` in its place (merged, later ones win a name), and the servers of `mcp_config`.

    `cache_dir`: where compiled catalogs may be kept; it need not exist or be writable. Raises CatalogError.
    """
    if files is None:
        # As with .pyc files: compiled beside the source where that can be written, which serves every project at once.
        paths = sorted(SHIPPED.glob("*.yaml"))
        folders = [SHIPPED / "__pycache__", cache_dir]
    else:
        paths = list(files)
        folders = [cache_dir]
    entries = _load_files(paths, [folder for folder in folders if folder is not None])
    if mcp_config is not None:
        entries = (*entries, *_load_servers(mcp_config, entries))
    return Catalog(entries)


def _load_files(paths: Sequence[Path], folders: Sequence[Path]) -> tuple[Entry, ...]:
    contents = [_bytes(path) for path in paths]
    key = cache.key_of(contents)
    for folder in folders:
        cached = cache.read(folder, key)
        if cached is not None:
            return cached
    # Imported here because they bring PyYAML and the schema checks, which a cached catalog does not need.
    from catalog.catalog_file import read_catalog  # noqa: PLC0415
    from catalog.yaml_reader import read_yaml  # noqa: PLC0415

    merged: dict[str, ToolDefinition] = {}
    for path, content in zip(paths, contents, strict=True):
        for tool in _parse(path, content, read_yaml, read_catalog):
            merged[fold(tool.name)] = tool
    entries = tuple(compile_tool(merged[name]) for name in sorted(merged))
    for folder in folders:
        if cache.write(folder, key, entries):
            break
    return entries


def _load_servers(path: Path, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    # Imported here because most projects add no server.
    from catalog.json_reader import read_json  # noqa: PLC0415
    from catalog.mcp_config import read_servers  # noqa: PLC0415

    servers = _parse(path, _bytes(path), read_json, read_servers)
    taken = {fold(entry.name): entry.name for entry in entries}
    for server in servers:
        other = taken.get(fold(server.name))
        if other is not None:
            raise CatalogError(str(path), server.line, "server-is-tool", name=server.name, other=other)
    return tuple(compile_tool(server) for server in servers)


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


def _parse(
    path: Path,
    content: bytes,
    read: Callable[[str], Node],
    understand: Callable[[Node], tuple[ToolDefinition, ...]],
) -> tuple[ToolDefinition, ...]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CatalogError(str(path), content.count(b"\n", 0, error.start) + 1, "not-utf8") from error
    try:
        return understand(read(text))
    except Fault as fault:
        raise CatalogError(str(path), fault.line, fault.reason, **fault.arguments) from fault
