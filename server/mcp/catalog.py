"""The tools that a procedure may declare."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Final, cast

from pydantic import BaseModel, Field, StringConstraints

from server.describing import Json
from server.mcp.tool import Call, McpTool
from server.reading import Closed
from server.rest.tools import tool_dict

_MOST: Final = 100


class ListArguments(Closed):
    query: Annotated[str, StringConstraints(max_length=100)] = Field(
        "", description="Words that name, title, hint or category contain; all tools where it is empty."
    )
    limit: Annotated[int, Field(ge=1, le=_MOST)] = Field(_MOST, description="At most so many tools.")


def list_tools(call: Call, arguments: BaseModel) -> Json:
    given = cast("ListArguments", arguments)
    digest, catalog = call.service.catalog()
    words = _plain(given.query).split()
    found = [tool_dict(tool) for tool in catalog.tools()]
    chosen = [tool for tool in found if all(word in _text(tool) for word in words)]
    return {"catalog": digest, "total": len(chosen), "tools": list(chosen[: given.limit])}


def _text(tool: Json) -> str:
    categories = cast("list[dict[str, object]]", tool["categories"])
    words = [tool["name"], tool["title"], *cast("list[str]", tool["hints"])]
    words += [str(category["name"]) for category in categories] + [str(category["title"]) for category in categories]
    return _plain(" ".join(map(str, words)))


def _plain(text: str) -> str:
    """Full-width and half-width, upper and lower case are the same."""
    return unicodedata.normalize("NFKC", text).casefold()


TOOLS: Final = (
    McpTool(
        "list_tools",
        "Tools that a procedure may declare",
        "Lists the catalog's tools with their categories, as a phase declares them: （使う道具: NAME の CATEGORY）.",
        "catalog:read",
        ListArguments,
        list_tools,
        read_only=True,
    ),
)
