"""What a procedure declares, for people: its phases, what each may read and write, and what it hands over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from aop_runtime.declarations import Handover, Http, Mcp, Phase, Procedure, Standard
from aop_runtime.visible import visible

Language = Literal["ja", "en"]

_WORDS: dict[Language, dict[str, str]] = {
    "ja": {
        "procedure": "手順",
        "phase": "フェーズ",
        "calls": "別の手順を実行",
        "no-tools": "道具なし",
        "reads": "読むだけ",
        "writes": "読み書き",
        "unknown": "操作は接続したときに分かる",
        "none": "なし",
        "handover": "そのまま渡す",
        "argument": "引数",
        "placeholders": "差し替え",
        "fixed": "固定の引数",
    },
    "en": {
        "procedure": "Procedure",
        "phase": "Phase",
        "calls": "runs another procedure",
        "no-tools": "no tools",
        "reads": "reads only",
        "writes": "reads and writes",
        "unknown": "operations are known once connected",
        "none": "none",
        "handover": "hands over",
        "argument": "argument",
        "placeholders": "placeholders",
        "fixed": "fixed arguments",
    },
}


def describe(procedure: Procedure, language: Language = "ja") -> str:
    """Several lines, the last ended too. Unprintable characters of titles and names are shown escaped."""
    words = _WORDS[language]
    lines = [f"{words['procedure']}: {visible(procedure.name)}"]
    for phase in procedure.phases:
        lines += _phase(phase, words)
    return "\n".join(lines) + "\n"


def _phase(phase: Phase, words: dict[str, str]) -> Iterator[str]:
    title = visible(phase.title)
    yield title if phase.number is None else f"{words['phase']} {phase.number}: {title}".rstrip()
    if phase.calls is not None:
        yield f"  {words['calls']}: {visible(phase.calls)}"
        return
    for tool in phase.tools:
        yield f"  - {_tool(tool, words)}"
    for handover in phase.handovers:
        yield f"  - {_handover(handover, words)}"
    if not phase.tools and not phase.handovers:
        yield f"  {words['no-tools']}"


def _tool(tool: Mcp | Http | Standard, words: dict[str, str]) -> str:
    notes = (
        [f"{visible(name)}: {visible(value)}" for name, value in tool.options.items()]
        if isinstance(tool, Standard)
        else []
    )
    if tool.read_only:
        notes.insert(0, words["reads"])
    elif not isinstance(tool, Standard):
        notes.insert(0, words["writes"])
    noted = f" ({', '.join(notes)})" if notes else ""
    if isinstance(tool, Standard) and not tool.operations:
        return _name(tool) + noted
    return f"{_name(tool)}{noted}: {_operations(tool.operations, words)}"


def _handover(handover: Handover, words: dict[str, str]) -> str:
    notes = [words["reads" if handover.read_only else "writes"]]
    if handover.argument is not None:
        notes.append(f"{words['argument']} {visible(handover.argument)}")
    else:
        notes.append("TypeScript")
    parts = [f"{words['handover']} {handover.name} → {_name(handover)} ({', '.join(notes)})"]
    parts.append(_operations(handover.operations, words))
    if handover.fixed_arguments:
        fixed = ", ".join(f"{visible(name)}={visible(str(value))}" for name, value in handover.fixed_arguments.items())
        parts.append(f"{words['fixed']} {fixed}")
    if handover.placeholders:
        parts.append(f"{words['placeholders']} {_listed(handover.placeholders)}")
    return f"{parts[0]}: {'; '.join(parts[1:])}"


def _name(tool: Mcp | Http | Standard | Handover) -> str:
    return visible(tool.tool) + (f" [{_listed(tool.categories)}]" if tool.categories else "")


def _operations(operations: tuple[str, ...] | None, words: dict[str, str]) -> str:
    return words["unknown"] if operations is None else _listed(operations) or words["none"]


def _listed(texts: Sequence[str]) -> str:
    return ", ".join(map(visible, texts))
