"""From what a server lists to a file of its own (`aop-tools/NAME.yaml`): a catalog file to be reviewed and committed.

It holds no address and no secret: those stay in the `mcpServers` file, which gives the tool its address in its use.
"""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path
from typing import Literal

from catalog.catalog_file import read_catalog
from catalog.compile import canonical, compile_tool
from catalog.compiled import Entry
from catalog.definition import ToolDefinition
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.live import Limits, ListedTool, Listing, ServerFault
from catalog.nodes import MAX_DEPTH, MAX_DIGITS, Fault, Json, deeper, walk
from catalog.reading import read_if_there
from catalog.writing import replace_file, sweep
from catalog.yaml_reader import read_yaml
from catalog.yaml_writer import write_yaml

_NO_FILE_NAME = re.compile(r"[^\w.-]+")
_LEVELS_ABOVE = 6
"""A schema's keys stand so many levels below the file's top."""

Stored = Literal["new", "changed", "same"]


def snapshot(name: str, listing: Listing, limits: Limits) -> str:
    """The catalog file of a server, its operations by name. Raises ServerFault; `Fault` for what no catalog can hold,
    whose line means nothing."""
    seen: dict[str, str] = {}
    for tool in listing.tools:
        if not tool.name.strip():
            raise ServerFault("server-wrong-list", detail="a tool's name is empty")
        other = seen.get(fold(tool.name))
        if other is not None:
            raise ServerFault("server-duplicate", tool=tool.name, other=other)
        seen[fold(tool.name)] = tool.name
        _check_size(tool, limits)
    operations: list[Json] = [_operation(tool) for tool in sorted(listing.tools, key=lambda tool: tool.name)]
    file: Json = {"version": 1, "tools": [{"name": name, "kind": "mcp", "operations": operations}]}
    said = json.dumps(listing.server, ensure_ascii=True)
    head = (
        f"# Written by `aop catalog import`: what the MCP server {json.dumps(name)}, by its own name {said}, listed.\n"
        "# Review it, commit it, and import again rather than edit it: your own words belong in aop-catalog.yaml.\n"
    )
    text = head + write_yaml(file)
    if read_yaml(text).json() != file:
        raise AssertionError("a snapshot is read back as it was written")
    entry_of(text)
    return text


def entry_of(text: str) -> Entry:
    """The tool of a snapshot, compiled. Raises `Fault`, also for a file of other things than one tool."""
    found = read_catalog(read_yaml(text))
    if len(found) != 1 or not isinstance(found[0], ToolDefinition):
        raise Fault(1, "snapshot-edited")
    return compile_tool(found[0])


def _operation(tool: ListedTool) -> Json:
    """Only a server's own word that an operation reads makes it one that reads (T7)."""
    operation: dict[str, Json] = {"name": tool.name, "effect": "read" if tool.read_only else "write"}
    if tool.description:
        operation["description"] = tool.description
    operation["input_schema"] = tool.input_schema
    if tool.output_schema is not None:
        operation["output_schema"] = tool.output_schema
    return operation


def _check_size(tool: ListedTool, limits: Limits) -> None:
    """Raises ServerFault, before anything walks over the schema by recursion."""
    schemas: list[Json] = [tool.input_schema, tool.output_schema]
    if deeper(schemas, MAX_DEPTH - _LEVELS_ABOVE):
        raise ServerFault("server-schema-deep", tool=tool.name, limit=MAX_DEPTH - _LEVELS_ABOVE)
    try:
        size = len(json.dumps([tool.name, tool.description, *schemas], allow_nan=False).encode())
        canonical([tool.name, tool.description, *schemas]).encode()
    except ValueError as error:  # NaN and infinities, which JSON has not; half a surrogate pair, which UTF-8 has not
        raise ServerFault("server-wrong-list", detail=f"{tool.name}: {error}") from error
    if size > limits.schema_bytes:
        raise ServerFault("server-schema-large", tool=tool.name, limit=limits.schema_bytes)
    largest = 10 ** (MAX_DIGITS - 1) - 1  # and a sign
    if any(isinstance(value, int) and abs(value) > largest for value, _ in walk(schemas)):
        raise ServerFault("server-wrong-list", detail=f"{tool.name}: a number of more than {MAX_DIGITS} digits")


def file_name(server: str) -> str:
    """Of a server's snapshot; what no file should be called becomes `_`."""
    return f"{_NO_FILE_NAME.sub('_', unicodedata.normalize('NFKC', server)).lstrip('.') or '_'}.yaml"


def store(folder: Path, name: str, text: str) -> tuple[Path, Stored]:
    """Write the snapshot of server `name` whole or not at all; one that says the same is left as it is.

    Raises OSError; CatalogError where the file is another tool's or no catalog file.
    """
    path = folder / file_name(name)
    before = read_if_there(path)
    if before is not None:
        earlier = _entry_in(path, before)
        if fold(earlier.name) != fold(name):
            raise CatalogError(str(path), earlier.line, "snapshot-of-another", name=name, other=earlier.name)
        if before == text.encode():
            return path, "same"
    folder.mkdir(parents=True, exist_ok=True)
    sweep(folder)
    replace_file(path, text.encode())
    return path, "new" if before is None else "changed"


def _entry_in(path: Path, content: bytes) -> Entry:
    """Raises CatalogError."""
    try:
        return entry_of(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise CatalogError(str(path), content.count(b"\n", 0, error.start) + 1, "not-utf8") from error
    except Fault as fault:
        raise CatalogError(str(path), fault.line, fault.reason, **fault.arguments) from fault
