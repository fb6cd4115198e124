"""What a tool offers, as the shipped catalog has it, and what is answered to its calls."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final, NotRequired, TypeAlias, TypedDict

import yaml

from catalog.load import SHIPPED, load_catalog
from catalog.model import Operation, Tool

Json: TypeAlias = "Mapping[str, Json] | Sequence[Json] | str | int | float | bool | None"

RESULTS: Final = Path(__file__).with_name("results.yaml")


class Listed(TypedDict):
    """An operation as an MCP server lists it. `readOnly`: its `readOnlyHint`; None: it says nothing."""

    name: str
    description: str
    inputSchema: Mapping[str, Json]
    readOnly: bool | None
    outputSchema: NotRequired[Mapping[str, Json]]


class Route(TypedDict):
    """An operation of an HTTP API. `path`: with `{name}` for an argument."""

    name: str
    method: str
    path: str


def _page(**properties: Json) -> Mapping[str, Json]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


BROWSER: Final[Sequence[Listed]] = (
    Listed(
        name="browser_navigate",
        description="Go to a page",
        inputSchema=_page(url={"type": "string"}),
        readOnly=True,
    ),
    Listed(name="browser_snapshot", description="See the page", inputSchema=_page(), readOnly=True),
    Listed(name="browser_click", description="Click", inputSchema=_page(target={"type": "string"}), readOnly=False),
)
"""Of a browser server, which the catalog knows by the words that grant its operations only."""


@lru_cache(maxsize=64)
def shipped(name: str) -> Tool:
    """Raises KeyError for a name that the catalog does not have."""
    tool = load_catalog().tool(name)
    if tool is None:
        raise KeyError(name)
    return tool


def listed(name: str) -> Sequence[Listed]:
    """What the MCP server of a tool lists. Raises KeyError."""
    return BROWSER if name == "browser" else tuple(_listed(operation) for operation in shipped(name).operations or ())


def _listed(operation: Operation) -> Listed:
    entry = Listed(
        name=operation.name,
        description=operation.description,
        inputSchema=json.loads(operation.schema) if operation.schema else {"type": "object"},
        readOnly=operation.effect == "read",
    )
    definition = json.loads(operation.definition)
    if "output_schema" in definition:
        entry["outputSchema"] = definition["output_schema"]
    return entry


def routes(name: str) -> Sequence[Route]:
    """The operations of a tool by HTTP. Raises KeyError."""
    found = []
    for operation in shipped(name).operations or ():
        definition = json.loads(operation.definition)
        found.append(Route(name=operation.name, method=definition["method"], path=definition["path"]))
    return found


def moved(name: str, url: str) -> str:
    """The shipped catalog file of a tool by HTTP, with its address at `url`: an organisation's file."""
    text = (SHIPPED / f"{name}.yaml").read_text(encoding="utf-8")
    there, times = re.subn(r'(server: \{url: )"[^"]*"', lambda match: f"{match[1]}{json.dumps(url)}", text)
    if times != 1:
        raise ValueError(f"{name}: its catalog file has no address")
    return there


@lru_cache(maxsize=1)
def answers() -> Mapping[str, Mapping[str, Json]]:
    """By tool and operation."""
    found: Mapping[str, Mapping[str, Json]] = yaml.safe_load(RESULTS.read_text(encoding="utf-8"))
    return found


def answer(known: Mapping[str, Json], operation: str) -> Json:
    """What is answered to a call; `known`: what is known of the tool, by operation."""
    return known.get(operation, {"ok": True, "operation": operation})
