"""`添付ファイル`: lists and reads the files that were given to the run."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from aop_runtime.declarations import Json, Standard
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.protocol import Grant
from aop_runtime.standard import attachment_files as files
from aop_runtime.standard.encodings import ENCODINGS, binary_kind, detect
from aop_runtime.standard.texts import text

NAME: Final = "添付ファイル"
FOLDER: Final = "attachments"
MOST_BYTES: Final = 16 * 1024 * 1024
MOST_CHARACTERS: Final = 20_000

_HEAD: Final = 65_536
_LIST: Final = "list_attachments"
_READ: Final = "read_attachment"

_LIST_SCHEMA: Final[dict[str, Json]] = {"type": "object", "properties": {}, "additionalProperties": False}
_READ_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 1_000, "description": "As list_attachments has it."},
        "offset": {"type": "integer", "minimum": 0, "description": "From which character on (0: the first)."},
        "length": {"type": "integer", "minimum": 1, "maximum": MOST_CHARACTERS},
        "encoding": {"enum": list[Json](ENCODINGS), "description": "Only where the one that was found is wrong."},
    },
    "required": ["name"],
    "additionalProperties": False,
}


class AttachmentsSource:
    """A `Source` of `list_attachments` and `read_attachment`."""

    def accepts(self, grant: Grant) -> bool:
        return isinstance(grant, Standard) and grant.tool == NAME

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        return (
            Tool(_spec(_LIST, _LIST_SCHEMA), _list),
            Tool(_spec(_READ, _READ_SCHEMA), _read),
        )

    async def aclose(self) -> None:
        """It holds nothing."""


def _spec(operation: str, schema: Mapping[str, Json]) -> ToolSpec:
    return ToolSpec(
        name=operation,
        tool=NAME,
        operation=operation,
        description=text(operation).substitute(characters=MOST_CHARACTERS),
        input_schema=schema,
        effect="read",
        output_limit=MOST_CHARACTERS,
    )


async def _list(arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
    found, more = await asyncio.to_thread(files.attachments, context.folder / FOLDER, _HEAD)
    entries: list[Json] = [{"name": each.name, "bytes": each.size, "kind": _kind(each)} for each in found]
    lines = [f"{each.name}\t{each.size} bytes\t{_kind(each)}" for each in found]
    warnings = (f"there are more: at most {files.MOST_FILES} are listed, {files.DEEPEST} folders deep",) if more else ()
    return Output(
        content="\n".join(lines) or "No files were given to this run.",
        structured={"attachments": entries},
        warnings=warnings,
    )


def _kind(attachment: files.Attachment) -> str:
    known = binary_kind(attachment.head)
    if known is not None:
        return known
    if attachment.size == 0:
        return "empty"
    encoding = detect(attachment.head, whole=len(attachment.head) == attachment.size)
    return "binary" if encoding is None else f"text ({encoding})"


async def _read(arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
    name, encoding = arguments["name"], arguments.get("encoding")
    offset, length = arguments.get("offset", 0), arguments.get("length", MOST_CHARACTERS)
    if (
        not isinstance(name, str)
        or not isinstance(offset, int)
        or not isinstance(length, int)
        or not (encoding is None or (isinstance(encoding, str) and encoding in ENCODINGS))
    ):
        raise ToolFailure("invalid_input", "name is a text, offset and length are whole numbers, encoding a known one")
    try:
        data = await asyncio.to_thread(files.read, context.folder / FOLDER, name, MOST_BYTES)
    except files.Refused as refused:
        raise ToolFailure("invalid_input", str(refused)) from refused
    except OSError as error:
        raise ToolFailure("dependency_failure", f"{files.shown(name)} cannot be read: {error.strerror}") from error
    read, codec = await asyncio.to_thread(_decoded, name, data, encoding)
    part = read[offset : offset + length]
    end = offset + len(part)
    structured: dict[str, Json] = {
        "name": name,
        "encoding": codec,
        "characters": len(read),
        "offset": offset,
        "next_offset": end if end < len(read) else None,
    }
    return Output(content=part, structured=structured)


def _decoded(name: str, data: bytes, encoding: str | None) -> tuple[str, str]:
    """Text and codec. Raises ToolFailure."""
    codec = encoding or detect(data)
    if codec is None:
        kind = binary_kind(data) or "no text in a known encoding"
        raise ToolFailure(
            "invalid_input",
            f"{files.shown(name)} is not read: {kind} ({len(data)} bytes)",
            {"kind": kind, "bytes": len(data)},
        )
    try:
        return data.decode(codec), codec
    except UnicodeError as error:
        raise ToolFailure("invalid_input", f"{files.shown(name)} is not in {codec}; leave encoding out") from error
