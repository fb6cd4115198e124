"""Hand-over declarations: which tool, which operation, which arguments (V2-V8)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal, cast

from catalog.model import Operation, Tool
from catalog.view import CatalogView
from pipeline.artifacts import Fence, Handover, HandoverDeclaration
from pipeline.project import MAX_SUGGESTIONS
from pipeline.resolution.arguments import JsonValue, NoValue, Scope, Value, find_value
from pipeline.resolution.items import NONE_WORD, ItemFault, ItemReading, read_item, select
from pipeline.resolution.placeholders import placeholder_faults

Resolution = tuple[Handover | None, list[ItemFault]]


def resolve_detached(declaration: HandoverDeclaration, catalog: CatalogView) -> ItemFault:
    """A readable declaration with no fence directly below (V8)."""
    readings = [read_item(item, declaration.written, catalog) for item in declaration.items]
    fault = _unreadable_words(declaration, readings)
    return fault or ItemFault("handover-detached", "", (("written", declaration.written),))


def resolve_handover(
    declaration: HandoverDeclaration, fence: Fence, scopes: Sequence[Scope], catalog: CatalogView
) -> Resolution:
    """A declaration directly above `fence`. `scopes`: where V5 looks for values."""
    written = (("written", declaration.written),)
    if not declaration.readable:
        return None, [ItemFault("handover-unreadable", "", written)]
    readings = [read_item(item, declaration.written, catalog) for item in declaration.items]
    fault = _unreadable_words(declaration, readings)
    if fault is not None:
        return None, [fault]
    names = tuple(dict.fromkeys(reading.name for reading in readings if not reading.none))
    if len(names) > 1:
        return None, [ItemFault("handover-several-tools", "", (*written, ("tools", names)))]
    tool = readings[0].tool
    if tool is None or tool.kind != "mcp" or any(reading.none for reading in readings):
        unfit = NONE_WORD if any(reading.none for reading in readings) else readings[0].name
        return None, [ItemFault("handover-not-mcp", "", (*written, ("tool", unfit)))]
    read_only = readings[0].read_only
    if any(reading.read_only != read_only for reading in readings):
        return None, [ItemFault("handover-mixed-read-only", "", written)]

    categories: tuple[str, ...] = ()
    if all(reading.category for reading in readings):
        categories = tuple(dict.fromkeys(reading.category.name for reading in readings if reading.category))
    faults = [ItemFault("handover-fence-blank", "", written)] if fence.blank else []
    marks = declaration.marks or ()
    faults += placeholder_faults(marks, fence.text, declaration.written)
    operations: tuple[str, ...] | None
    argument, fixed = None, "{}"
    if fence.typescript:
        operations = None
        if tool.operations is not None:
            operations = tuple(o.name for o in select(tool.operations, categories, read_only=read_only))
    else:
        receiver = _receiver(tool, categories, read_only, fence, declaration, catalog)
        if isinstance(receiver, ItemFault):
            faults.append(receiver)
            return None, faults
        operations, argument = (receiver.name,), receiver.text_argument
        fixed, missing = _fixed_arguments(receiver, scopes, declaration)
        faults += missing
    if faults or declaration.fence is None:
        return None, faults
    mode: Literal["typescript", "argument"] = "typescript" if argument is None else "argument"
    return Handover(
        tool.name,
        categories,
        read_only,
        mode,
        operations,
        argument,
        fixed,
        marks,
        declaration.fence,
        declaration.anchor,
    ), []


def _unreadable_words(declaration: HandoverDeclaration, readings: list[ItemReading]) -> ItemFault | None:
    """AOP302: one a hand-over, its suggestions merged."""
    faulty = [reading for reading in readings if reading.faults]
    if not faulty:
        return None
    suggestions = dict.fromkeys(text for reading in faulty for fault in reading.faults for text in fault.suggestions)
    arguments = (("written", declaration.written), ("item", faulty[0].item.text))
    return ItemFault("handover-tool-unreadable", "", arguments, tuple(suggestions)[:MAX_SUGGESTIONS])


def _receiver(
    tool: Tool,
    categories: tuple[str, ...],
    read_only: bool,
    fence: Fence,
    declaration: HandoverDeclaration,
    catalog: CatalogView,
) -> Operation | ItemFault:
    """The one operation that takes the text (V4)."""
    effect = "read" if read_only else "write"
    candidates = [
        operation
        for operation in select(tool.operations or (), categories, read_only=False)
        if operation.text_argument is not None and operation.effect == effect
    ]
    base = (("written", declaration.written), ("tool", tool.name))
    if not candidates:
        arguments = (*base, ("language", fence.language or ""))
        return ItemFault("handover-no-receiver", "", arguments, catalog.receivers(read_only))
    if len(candidates) > 1:
        names = tuple(operation.name for operation in candidates)
        return ItemFault("handover-ambiguous-operation", "", (*base, ("operations", names)))
    return candidates[0]


def _fixed_arguments(
    operation: Operation, scopes: Sequence[Scope], declaration: HandoverDeclaration
) -> tuple[str, list[ItemFault]]:
    schema = cast("dict[str, JsonValue]", json.loads(operation.schema)) if operation.schema else {}
    required, properties = schema.get("required"), schema.get("properties")
    values: dict[str, JsonValue] = {}
    faults = []
    for argument in required if isinstance(required, list) else []:
        if not isinstance(argument, str) or argument == operation.text_argument:
            continue
        definition = properties.get(argument) if isinstance(properties, dict) else None
        found = find_value(argument, definition if isinstance(definition, dict) else {}, scopes)
        if isinstance(found, Value):
            values[argument] = found.value
        else:
            faults.append(_missing(found, operation, argument, declaration))
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")), faults


def _missing(found: NoValue, operation: Operation, argument: str, declaration: HandoverDeclaration) -> ItemFault:
    arguments = (("written", declaration.written), ("operation", operation.name), ("argument", argument))
    if found.written:
        return ItemFault("handover-argument-missing", found.reason, (*arguments, ("values", found.written)))
    return ItemFault("handover-argument-missing", "", arguments)
