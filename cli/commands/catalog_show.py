"""`aop catalog show [TOOL]`: which tools there are, and which layer each comes from."""

from __future__ import annotations

import json as json_module
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from catalog.fold import fold
from catalog.layers import Layered, Layers, Place, Removed
from catalog.load import load_layers
from catalog.model import Tool
from catalog.own import find_own
from catalog.snapshot import Catalog
from cli import streams
from cli.arguments import Setting
from cli.documents import cache_folder, open_catalog
from cli.exits import OK
from cli.json_output import print_json
from cli.messages import say
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible


def run(name: str | None, setting: Setting, *, json: bool) -> int:
    """Raises Trouble for a tool that there is not, CatalogError."""
    own = find_own(Path(), setting.org)
    layers = load_layers(setting.catalog, setting.mcp_config, cache_folder(), own)
    catalog = open_catalog(setting)
    if name is None:
        if json:
            tools = [_tool_dict(catalog, layered, operations=False) for layered in layers.tools.values()]
            print_json({"tools": tools, "removed": [_removed_dict(removed) for removed in layers.removed]})
        else:
            streams.emit("".join(f"{visible(line)}\n" for line in _listing(layers, setting.lang)))
        return OK
    layered = layers.tools.get(fold(name))
    if layered is None:
        raise _unknown(name, catalog, layers)
    if json:
        print_json(_tool_dict(catalog, layered, operations=True))
    else:
        streams.emit(
            "".join(f"{visible(line)}\n" for line in _details(_built(catalog, layered), layered, setting.lang))
        )
    return OK


def _unknown(name: str, catalog: Catalog, layers: Layers) -> Trouble:
    for removed in layers.removed:
        if fold(removed.name) == fold(name):
            return Trouble("catalog.removed-tool", name=removed.name, place=_where(removed.by))
    close = ", ".join(catalog.suggest_tools(name, None))
    return Trouble("catalog.unknown-tool-close" if close else "catalog.unknown-tool", name=name, close=close)


def _built(catalog: Catalog, layered: Layered) -> Tool:
    tool = catalog.tool(layered.entry.name)
    if tool is None:
        raise AssertionError("catalog and layers are of the same files")
    return tool


def _where(place: Place) -> str:
    return f"{place.file}:{place.line}"


# -------------------------------------------------------------------------------------------------------- text


def _listing(layers: Layers, lang: Lang) -> Iterator[str]:
    tools = sorted(layers.tools.values(), key=lambda layered: layered.entry.name)
    width = max((len(layered.entry.name) for layered in tools), default=0)
    for layered in tools:
        yield f"{layered.entry.name:<{width}}  {_place(layered.place, lang)}"
        yield from (f"{'':<{width}}    {line}" for line in _beneath(layered, lang))
    for removed in layers.removed:
        what = ", ".join(_place(place, lang) for place in removed.what)
        yield say("catalog.removed", lang, name=removed.name, by=_where(removed.by), what=what)


def _place(place: Place, lang: Lang) -> str:
    return say("catalog.place", lang, layer=say(f"catalog.layer-{place.layer}", lang), where=_where(place))


def _beneath(layered: Layered, lang: Lang) -> Iterator[str]:
    for place in layered.over:
        yield say("catalog.over", lang, place=_place(place, lang))
    for place in layered.beside:
        yield say("catalog.beside", lang, place=_place(place, lang))
    if layered.address is not None:
        yield say("catalog.address", lang, where=_where(layered.address[1]))


def _details(tool: Tool, layered: Layered, lang: Lang) -> Iterator[str]:
    yield f"{tool.name} ({tool.kind}): {tool.title}"
    yield f"  {_place(layered.place, lang)}"
    yield from (f"  {line}" for line in _beneath(layered, lang))
    if tool.hints:
        yield say("catalog.hints", lang, hints=", ".join(tool.hints))
    for category in tool.categories:
        yield f"  {tool.name} の {category.name}: {category.title}"
    if tool.operations is None:
        yield say("catalog.operations-unknown", lang)
    for operation in tool.operations or ():
        within = f" ({operation.category})" if operation.category else ""
        yield f"    {operation.effect:<5} {operation.name}{within}"


# -------------------------------------------------------------------------------------------------------- json


def _tool_dict(catalog: Catalog, layered: Layered, *, operations: bool) -> dict[str, Any]:  # Any: JSON
    tool = _built(catalog, layered)
    found: dict[str, Any] = {
        "name": tool.name,
        "kind": tool.kind,
        "title": tool.title,
        **_place_dict(layered.place),
        "over": [_place_dict(place) for place in layered.over],
        "beside": [_place_dict(place) for place in layered.beside],
        "address": None if layered.address is None else _place_dict(layered.address[1]),
        "categories": [category.name for category in tool.categories],
    }
    if operations:
        found["hints"] = list(tool.hints)
        found["definition"] = json_module.loads(tool.definition)
    found["operations"] = None if tool.operations is None else len(tool.operations)
    if operations and tool.operations is not None:
        found["operations"] = [
            {
                "name": operation.name,
                "category": operation.category,
                "effect": operation.effect,
                "description": operation.description,
                "input_schema": json_module.loads(operation.schema) if operation.schema else None,
                "text_argument": operation.text_argument,
            }
            for operation in tool.operations
        ]
    return found


def _place_dict(place: Place) -> dict[str, str | int]:
    return {"layer": place.layer, "file": place.file, "line": place.line}


def _removed_dict(removed: Removed) -> dict[str, Any]:  # Any: JSON
    return {"name": removed.name, "by": _place_dict(removed.by), "what": [_place_dict(place) for place in removed.what]}
