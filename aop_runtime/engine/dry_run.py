"""What a run would give each phase, seen without a model, a network or a server: instructions, tools, gates."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypedDict

from aop_runtime.declarations import Handover, Http, Json, Mcp, Phase, Procedure, Standard
from aop_runtime.handover.substitution import input_schema
from aop_runtime.loading import load_procedure
from aop_runtime.manifest import Manifest, read_manifest
from aop_runtime.plane.permission import Rules, read_rules
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.pins import operation_pin, spec_of
from aop_runtime.sources.protocol import Source
from aop_runtime.sources.schemas import NO_ARGUMENTS
from aop_runtime.standard import browser_table
from aop_runtime.visible import visible

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "ja": {
        "phase": "フェーズ",
        "calls": "別の手順を実行する",
        "none": "道具なし",
        "allow": "そのまま実行",
        "ask": "実行の前に確認",
        "deny": "実行しない",
        "read": "読む",
        "write": "書く",
        "unknown": "操作はサーバーに接続すると分かる",
        "instructions": "指示",
        "inside": "この中から呼べる",
    },
    "en": {
        "phase": "Phase",
        "calls": "runs another procedure",
        "none": "no tools",
        "allow": "runs unasked",
        "ask": "asks first",
        "deny": "is denied",
        "read": "reads",
        "write": "writes",
        "unknown": "operations are known once the server is connected",
        "instructions": "Instructions",
        "inside": "may call from inside",
    },
}


class OperationView(TypedDict):
    """`gate`: what the rules say of it with no arguments; a rule over arguments may say otherwise. `input_schema` None:
    known only once connected."""

    tool: str
    operation: str
    effect: str
    gate: str
    description: str
    input_schema: Mapping[str, Json] | None


class HandoverView(TypedDict):
    name: str
    tool: str
    mode: str
    placeholders: list[str]
    input_schema: Mapping[str, Json]
    operations: list[OperationView]


class PhaseView(TypedDict):
    """`unknown`: tools whose operations are known only once connected."""

    number: int | None
    title: str
    calls: str | None
    instructions: str | None
    tools: list[OperationView]
    unknown: list[str]
    handovers: list[HandoverView]


def views(procedure: Procedure, manifest: Manifest, rules: Rules) -> list[PhaseView]:
    """Raises SourceFault."""
    return [_phase(phase, manifest, rules) for phase in procedure.phases]


def _phase(phase: Phase, manifest: Manifest, rules: Rules) -> PhaseView:
    tools: list[OperationView] = []
    unknown: list[str] = []
    for grant in phase.tools:
        if isinstance(grant, Standard):
            specs = _standard(grant)
            tools += [_view(spec, rules, known=known) for spec, known in specs]
            unknown += [] if specs else [grant.tool]
        elif grant.operations is None:
            unknown.append(grant.tool)
        else:
            tools += [_operation(grant, name, manifest, rules) for name in grant.operations]
    return PhaseView(
        number=phase.number,
        title=phase.title,
        calls=phase.calls,
        instructions=phase.instructions,
        tools=tools,
        unknown=unknown,
        handovers=[_handover(handover, manifest, rules) for handover in phase.handovers],
    )


def _handover(handover: Handover, manifest: Manifest, rules: Rules) -> HandoverView:
    return HandoverView(
        name=handover.name,
        tool=handover.tool,
        mode=handover.mode,
        placeholders=list(handover.placeholders),
        input_schema=input_schema(handover.placeholders),
        operations=[_operation(handover, name, manifest, rules) for name in handover.operations or ()],
    )


def _operation(grant: Mcp | Http | Handover, name: str, manifest: Manifest, rules: Rules) -> OperationView:
    """Raises SourceFault."""
    pin = operation_pin(manifest, grant.tool, name, grant.read_only)
    schema = NO_ARGUMENTS if pin.input_schema is None else pin.input_schema
    return _view(spec_of(pin, schema), rules, known=pin.input_schema is not None)


def _standard(grant: Standard) -> list[tuple[ToolSpec, bool]]:
    """Of the tools that come with the run-time, and whether their schema is known; [] for others.

    The browser's operations come from its server; here they are those of the table.
    """
    if grant.tool == "browser":
        names = browser_table.granted(grant.operations, read_only=grant.read_only)
        return [(_of_browser(name), False) for name in names]
    # Each only where it is granted: starting up is what a dry run's time goes to.
    source: Source
    match grant.tool:
        case "hitl":
            from aop_runtime.standard.hitl import HitlSource  # noqa: PLC0415 - see above

            source = HitlSource()
        case "添付ファイル":
            from aop_runtime.standard.attachments import AttachmentsSource  # noqa: PLC0415 - see above

            source = AttachmentsSource()
        case "sandbox":
            from aop_runtime.standard.sandbox import SandboxSource  # noqa: PLC0415 - see above

            return [(tool.spec, True) for tool in SandboxSource().declared()]
        case _:
            return []
    return [(tool.spec, True) for tool in asyncio.run(_tools(source, grant))]


async def _tools(source: Source, grant: Standard) -> Sequence[Tool]:
    return await source.tools(grant)


def _of_browser(name: str) -> ToolSpec:
    return ToolSpec(
        name=name,
        tool="browser",
        operation=name,
        description="",
        input_schema={},
        effect=browser_table.effect(name),
    )


def _view(spec: ToolSpec, rules: Rules, *, known: bool) -> OperationView:
    return OperationView(
        tool=spec.tool,
        operation=spec.operation,
        effect=spec.effect,
        gate=rules.verdict(spec, {}).action,
        description=spec.described({}),
        input_schema=spec.input_schema if known else None,
    )


def shown(compiled: Path, permissions: Path | None, language: str, *, as_json: bool) -> str:
    """All of it, of the module and the manifest in the folder `compiled`. Raises Fault."""
    rules = Rules() if permissions is None else read_rules(permissions)
    procedure = load_procedure(compiled / "procedure.py")
    found = views(procedure, read_manifest(compiled / "manifest.json"), rules)
    if as_json:
        return as_json_text(procedure.name, found)
    # Documents may hold what a terminal would obey; tabs are let be.
    lines = [line.split("\t") for line in as_text(procedure.name, found, language)]
    return "\n".join(["\t".join(map(visible, parts)) for parts in lines])


def as_text(procedure: str, phases: list[PhaseView], language: str) -> Iterator[str]:
    """Lines for people; instructions as they are."""
    words = _WORDS["en" if language == "en" else "ja"]
    yield procedure
    for view in phases:
        number = "" if view["number"] is None else f"{words['phase']} {view['number']}: "
        yield ""
        yield f"== {number}{view['title']}"
        if view["calls"] is not None:
            yield f"  {words['calls']}: {view['calls']}"
            continue
        for tool in view["tools"]:
            yield f"  - {_operation_line(tool, words)}"
        for name in view["unknown"]:
            yield f"  - {name}: {words['unknown']}"
        for handover in view["handovers"]:
            marks = ", ".join(handover["placeholders"])
            yield f"  - {handover['name']} → {handover['tool']} ({handover['mode']}{f'; {marks}' if marks else ''})"
            for tool in handover["operations"]:
                yield f"      {words['inside']}: {_operation_line(tool, words)}"
        if not view["tools"] and not view["unknown"] and not view["handovers"]:
            yield f"  {words['none']}"
        yield f"  {words['instructions']}:"
        yield from [f"  | {line}" for line in (view["instructions"] or "").split("\n")]


def _operation_line(view: OperationView, words: Mapping[str, str]) -> str:
    fields = ""
    schema = view["input_schema"]
    if schema is not None and isinstance(properties := schema.get("properties"), dict):
        required = schema.get("required")
        wanted = required if isinstance(required, list) else []
        fields = f"({', '.join(name if name in wanted else f'{name}?' for name in properties)})"
    return f"{view['tool']}.{view['operation']}{fields}: {words[view['effect']]}, {words[view['gate']]}"


def as_json_text(procedure: str, phases: list[PhaseView]) -> str:
    return json.dumps({"procedure": procedure, "phases": phases}, ensure_ascii=False, indent=1)
