"""A procedure as a Mermaid flowchart: its phases in order, what each calls, may read and write, and hands over."""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from functools import lru_cache

from pipeline.artifacts import Handover, ResolvedDocument, ResolvedPhase
from pipeline.diagnostics.lang import Lang
from pipeline.literals import AWKWARD

_WORDS: dict[Lang, dict[str, str]] = {
    "ja": {
        "phase": "フェーズ",
        "reads": "読む",
        "writes": "書く",
        "uses": "使う",
        "handover": "そのまま渡す",
        "calls": "呼び出す",
        "more": "ほか {count} 件",
        "unknown-reads": "読むだけ（操作は接続時に分かる）",
        "unknown-writes": "読み書き（操作は接続時に分かる）",
    },
    "en": {
        "phase": "Phase",
        "reads": "reads",
        "writes": "writes",
        "uses": "uses",
        "handover": "hands over",
        "calls": "calls",
        "more": "and {count} more",
        "unknown-reads": "reads only (operations are known once connected)",
        "unknown-writes": "reads and writes (operations are known once connected)",
    },
}

# What Mermaid, Markdown or HTML could give a meaning to even in quotes. The rest of ASCII's signs is harmless there.
_UNSAFE = re.compile(r"""[!"#$%&'*;<=>?@\[\\\]^`{|}~]""")
_HIDDEN = f"[\x00-\x1f]|{AWKWARD}"
_LABEL = 300
"""The longest label, in characters."""
_NAMES = 8
"""How many operations an arrow names: a chart is to be taken in at a glance, the manifest lists them all."""


def graph(resolved: ResolvedDocument, lang: Lang = "ja") -> str:
    """The chart's text, the last line ended too. The same document gives the same text; any title is harmless in it."""
    return "\n".join(_lines(resolved, _WORDS[lang])) + "\n"


def _lines(resolved: ResolvedDocument, words: Mapping[str, str]) -> list[str]:
    reading: dict[str, set[str]] = {}
    for tool, operation, effect, _, _ in resolved.pins:
        if effect == "read":
            reading.setdefault(tool, set()).add(operation)
    tools: dict[str, str] = {}
    called: dict[str, str] = {}
    lines = ["flowchart TD"]
    edges: list[str] = []
    word = words["phase"]
    for place, phase in enumerate(resolved.phases):
        title = phase.title if phase.number is None else f"{word} {phase.number}: {phase.title}".rstrip(": ")
        lines.append(f"  p{place}[[{_label(title)}]]" if phase.kind == "call" else f"  p{place}[{_label(title)}]")
        if place:
            lines.append(f"  p{place - 1} --> p{place}")
    for place, phase in enumerate(resolved.phases):
        if phase.calls is not None:
            if phase.calls not in called:
                called[phase.calls] = f"c{len(called)}"
                lines.append(f"  {called[phase.calls]}([{_label(phase.calls)}])")
            edges.append(f"  p{place} ==>|{_label(words['calls'])}| {called[phase.calls]}")
        used = [grant.tool for grant in phase.tools]
        if phase.handovers:
            used += [handover.tool for handover in phase.handovers]
        for tool in used:
            if tool not in tools:
                tools[tool] = f"t{len(tools)}"
                lines.append(f"  {tools[tool]}[({_label(tool)})]")
        edges += _edges(f"p{place}", phase, tools, reading, words)
    return lines + edges


def _edges(
    node: str,
    phase: ResolvedPhase,
    tools: Mapping[str, str],
    reading: Mapping[str, Set[str]],
    words: Mapping[str, str],
) -> list[str]:
    """An arrow a tool and direction: from the tool into the phase that reads it, the other way where it writes."""
    edges: list[str] = []
    reads: dict[str, list[str]] = {}
    writes: dict[str, list[str]] = {}
    for grant in phase.tools:
        tool, operations = grant.tool, grant.operations
        if grant.kind == "standard":
            said = words["uses"]
            if operations:
                said = f"{said}: {', '.join((*operations, *[value for _, value in grant.options]))}"
            edges.append(f"  {node} ---|{_label(said)}| {tools[tool]}")
        elif operations is None:
            known = reads if grant.read_only else writes
            known.setdefault(tool, []).append(words["unknown-reads" if grant.read_only else "unknown-writes"])
        else:
            harmless = reading.get(tool, ())
            for operation in operations:
                known = reads if operation in harmless else writes
                known.setdefault(tool, []).append(operation)
    for tool, names in reads.items():
        edges.append(f"  {tools[tool]} -.->|{_flow(words['reads'], tuple(names), words['more'])}| {node}")
    for tool, names in writes.items():
        edges.append(f"  {node} -->|{_flow(words['writes'], tuple(names), words['more'])}| {tools[tool]}")
    for handover in phase.handovers:
        edges.append(f"  {node} ==>|{_label(_handed(handover, words))}| {tools[handover.tool]}")
    return edges


@lru_cache(maxsize=1024)
def _flow(verb: str, names: tuple[str, ...], more: str) -> str:
    """An arrow's label. Cached: the documents of a library use the same operations."""
    return _any_label(_said(verb, names, more))


def _said(verb: str, names: tuple[str, ...], more: str) -> str:
    """`verb: names`, each name once; of many the first ones, and how many there are beside them."""
    distinct = list(dict.fromkeys(filter(None, names)))
    shown = distinct[:_NAMES]
    if len(distinct) > len(shown):
        shown.append(more.format(count=len(distinct) - len(shown)))
    return f"{verb}: {', '.join(shown)}" if shown else verb


def _handed(handover: Handover, words: Mapping[str, str]) -> str:
    effect = words["reads"] if handover.read_only else words["writes"]
    return _said(f"{words['handover']} ({effect})", handover.operations or (), words["more"])


def _label(text: str) -> str:
    """A quoted label. What cannot be seen is gone, what has a meaning is an entity."""
    return _short_label(text) if len(text) <= _LABEL else _any_label(text)


def _any_label(text: str) -> str:
    # Nothing hidden is printable to Python, whatever its edition of Unicode.
    shown = " ".join((text if text.isprintable() else re.sub(_HIDDEN, " ", text)).split())
    if len(shown) > _LABEL:
        shown = shown[: _LABEL - 1] + "…"
    return f'"{_UNSAFE.sub(_entity, shown) or " "}"'


_short_label = lru_cache(maxsize=4096)(_any_label)
"""The documents of a library use the same tools. Only short texts are kept: so what is kept is bounded."""


def _entity(match: re.Match[str]) -> str:
    return f"#{ord(match[0])};"
