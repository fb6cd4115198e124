"""The plane's own tool for reading on in an output that was too long. Offered only where there is such an output."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure, Truncation
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.plane.texts import template

NAME: Final = "read_result"
MOST: Final = 20_000
_RESULT: Final = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,199}")

_SCHEMA: Final[dict[str, Json]] = {
    "type": "object",
    "properties": {
        "result": {"type": "string", "maxLength": 200, "description": "The result's id, from `read_on`."},
        "offset": {"type": "integer", "minimum": 0, "description": "From which character on (0: the first)."},
        "length": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "How many characters at most."},
    },
    "required": ["result", "offset"],
    "additionalProperties": False,
}


def read_result() -> Tool:
    spec = ToolSpec(
        name=NAME,
        tool="aop",
        operation=NAME,
        description=template("read_result"),
        input_schema=_SCHEMA,
        effect="read",
        output_limit=MOST,
    )
    return Tool(spec, _read)


async def _read(arguments: Mapping[str, Json], context: ToolContext) -> Output:
    result, offset, length = arguments["result"], arguments["offset"], arguments.get("length", MOST)
    if not isinstance(result, str) or not isinstance(offset, int) or not isinstance(length, int):
        raise ToolFailure("invalid_input", "result is a text, offset and length are whole numbers")
    if _RESULT.fullmatch(result) is None:
        raise ToolFailure("invalid_input", "not the id of a result: take it from read_on")
    path = Path("outputs") / f"{result}.txt"
    try:
        text = (context.folder / path).read_text(encoding="utf-8", errors="surrogatepass")
    except OSError as error:
        raise ToolFailure("invalid_input", f"there is no stored result {result}: take its id from read_on") from error
    part = text[offset : offset + length]
    left = max(0, len(text) - offset - len(part))
    warnings = (f"{left} characters follow: read on from offset {offset + len(part)}",) if left else ()
    return Output(
        content=part,
        warnings=warnings,
        truncation=Truncation(path=path.as_posix(), total=len(text), head=len(part), tail=0) if left else None,
    )
