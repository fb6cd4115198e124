"""`aop catalog import [NAME…]`: what live MCP servers list, stored as catalog files to be reviewed and committed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from catalog.errors import CatalogError
from catalog.imported import Stored, store
from catalog.live import Limits
from catalog.load import load_catalog
from catalog.mcp_connection import Connection
from catalog.own import IMPORTED, Own, find_own
from catalog.yaml_reader import read_yaml
from cli import streams
from cli.arguments import Setting
from cli.documents import cache_folder
from cli.exits import OK, TROUBLE
from cli.json_output import print_json
from cli.live import config_of, connections, limits_of, take
from cli.messages import say
from cli.tool_lint import Linted, lint_snapshot
from cli.trouble import sentence
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible

_STORED: Final[dict[Stored, str]] = {"new": "import.new", "changed": "import.changed", "same": "import.same"}


class Imported(NamedTuple):
    """`taken`: the catalog has a tool of that name, which goes before the imported one."""

    server: str
    file: Path
    stored: Stored
    reads: int
    writes: int
    taken: bool
    linted: Linted


def run(names: Sequence[str], setting: Setting, out: Path | None, seconds: float | None, *, json: bool) -> int:
    """Each server by itself: one that fails stores nothing and keeps none from being stored.

    Raises Trouble, CatalogError, OSError.
    """
    path = config_of(setting)
    limits = limits_of(seconds)
    own = find_own(Path(), setting.org)
    catalog = load_catalog(setting.catalog, None, cache_folder(), Own((), own.organisation))
    done: list[Imported] = []
    failed = 0
    for connection in connections(path, names):
        try:
            found = _import(path, connection, out or Path(IMPORTED), limits, setting.lang)
        except (CatalogError, OSError) as fault:
            failed += 1
            streams.note(f"aop: {sentence(fault, setting.lang)}")
            continue
        done.append(found._replace(taken=catalog.tool(found.server) is not None))
        if not json:
            _tell(done[-1], setting.lang)
    if json:
        print_json([_dict(imported) for imported in done])
    return TROUBLE if failed else OK


def _import(path: Path, connection: Connection, out: Path, limits: Limits, lang: Lang) -> Imported:
    """Raises CatalogError, OSError."""
    _, text, tool = take(path, connection, limits)
    file, stored = store(out, connection.name, text)
    reads = sum(operation.effect == "read" for operation in tool.operations or ())
    writes = len(tool.operations or ()) - reads
    linted = lint_snapshot(read_yaml(text).json(), file.as_posix(), lang)
    return Imported(connection.name, file, stored, reads, writes, False, linted)


def _tell(imported: Imported, lang: Lang) -> None:
    arguments = {"server": imported.server, "file": imported.file.as_posix()}
    counts = {"count": imported.reads + imported.writes, "reads": imported.reads, "writes": imported.writes}
    lines = [say(_STORED[imported.stored], lang, **arguments, **counts)]
    if imported.taken:
        lines.append(say("import.taken", lang, **arguments))
    lines += imported.linted.lines
    streams.emit("".join(f"{visible(line)}\n" for line in lines))


def _dict(imported: Imported) -> dict[str, object]:
    return {
        "server": imported.server,
        "file": imported.file.as_posix(),
        "stored": imported.stored,
        "reads": imported.reads,
        "writes": imported.writes,
        "taken": imported.taken,
        "lint": imported.linted.report,
    }
