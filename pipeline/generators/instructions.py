"""The instructions that the template generator writes: the prose as it is (I1), and what belongs around it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal

from pipeline.artifacts import Grant, PhaseCode, Pin, Segment, Unit, UnitHandover
from pipeline.generators.source import FenceHere, Prose, render_phase

_DESCRIPTION = 160
"""How much of an operation's description is shown, in characters; the whole of it comes with the tool at run time."""

_ROLE = "の担当エージェントです。手順に沿って進め、結果を簡潔に報告してください。\n"
_SHARED = "\n【業務全体の説明】\n"
_STEPS = "\n【手順】\n"
_TOOLS = "\n【使える道具】\n"
_NO_TOOLS = "\n【使える道具】なし\n"
_HANDOVERS = "\n【文をそのまま渡す道具】文はこの道具が持っている。書き写さず、次の値だけを渡して呼ぶ。\n"
_RULES = "\n【決まり】使えるのは上の道具だけ。囲み（``` の間）の文は一字一句そのまま使い、要約も言い換えもしない。\n"


def code_of(unit: Unit) -> PhaseCode:
    """The phase's code: these instructions, and all that is granted."""
    return render_phase(unit, instructions_of(unit), unit.tools)


def instructions_of(unit: Unit) -> list[Prose]:
    written: list[Prose] = [f"あなたは「{unit.title}」{_ROLE}" if unit.title else f"あなたはこの段{_ROLE}"]
    if unit.shared:
        written += _shared(unit.shared)
    if unit.body:
        written += _prose(_STEPS, unit.body, "own")
    if unit.tools:
        written.append((_usual_tools if unit.usual else _tools)(unit.tools, unit.pins))
    elif not unit.handovers:
        written.append(_NO_TOOLS)
    if unit.handovers:
        written.append(_HANDOVERS)
        written += [_handover(handover) for handover in unit.handovers]
    written.append(_RULES)
    return written


def _prose(head: str, body: tuple[Segment, ...], scope: Literal["own", "shared"]) -> list[Prose]:
    """Each of its texts ends its line, and is one with the texts beside it."""
    prose: list[Prose] = []
    texts = [head]
    for segment in body:
        if isinstance(segment, str):
            texts += (segment, "\n")
        else:
            if texts:
                prose.append("".join(texts))
                texts.clear()
            prose.append(FenceHere(scope, segment))
    if texts:
        prose.append("".join(texts))
    return prose


@lru_cache(maxsize=4)
def _shared(body: tuple[Segment, ...]) -> tuple[Prose, ...]:
    """Cached: all phases of a document have it."""
    return tuple(_prose(_SHARED, body, "shared"))


def _tools(tools: tuple[Grant, ...], pins: tuple[Pin, ...]) -> str:
    known = {(pin.tool, pin.operation): pin for pin in pins}
    return "".join([_TOOLS, *[_grant(grant, known) for grant in tools]])


_usual_tools = lru_cache(maxsize=256)(_tools)
"""Of usual units."""


def _grant(grant: Grant, pins: Mapping[tuple[str, str], Pin]) -> str:
    categories = f" の {'・'.join(grant.categories)}" if grant.categories else ""
    notes = [f"{name}: {setting}" for name, setting in grant.options]
    if grant.read_only:
        notes.insert(0, "読むだけ")
    noted = f"（{'、'.join(notes)}）" if notes else ""
    head = f"- {grant.tool}{categories}{noted}"
    if grant.kind == "standard":
        return f"{head}: {'、'.join(grant.operations)}\n" if grant.operations else f"{head}\n"
    if grant.operations is None:
        return f"{head}: 操作は接続したときに分かる\n"
    return "".join([f"{head}\n", *[_operation(name, pins.get((grant.tool, name))) for name in grant.operations]])


def _operation(name: str, pin: Pin | None) -> str:
    if pin is None:
        return f"  - {name}\n"
    effect = "読む" if pin.effect == "read" else "書く"
    description = one_line(pin.description)
    return f"  - {name}（{effect}）: {description}\n" if description else f"  - {name}（{effect}）\n"


@lru_cache(maxsize=1024)
def one_line(description: str) -> str:
    """An operation's description on one line and not too long. Cached: a library uses the same few operations."""
    words = " ".join(description.split())
    return words if len(words) <= _DESCRIPTION else words[: _DESCRIPTION - 1].rstrip() + "…"


def _handover(handover: UnitHandover) -> str:
    if handover.mode == "typescript":
        action = f"の下の TypeScript を {handover.tool} で走らせる"
    else:
        operation = f" の {handover.operations[0]}" if handover.operations else ""
        action = f"の下の文を {handover.tool}{operation} の引数 {handover.argument} に渡す"
    values = "、".join([f"`{mark}`" for mark in handover.placeholders]) or "なし"
    return f"- {handover.name}: 「{' '.join(handover.written.split())}」{action}。渡す値: {values}\n"
