"""How a phase is written down: the Python source of one `Phase(…)` expression, with slots for what link places.

Every string is a plain literal, one a source line: so the module reads like the document, and `ast` alone reads it back
(O1).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from pipeline.artifacts import CodePiece, FenceSlot, Grant, NumberSlot, PhaseCode, Unit, UnitHandover
from pipeline.literals import lines, literal, value

INDENT = 8
"""Where a phase stands in the module, in spaces: its first line follows there, the others are indented from there."""

CONSTRUCTORS = {"mcp": "Mcp", "http": "Http", "standard": "Standard"}
"""What declares a tool, by its kind. The verifier has its own list: it trusts nothing here."""

_WIDTH = 120
_FIELD = " " * (INDENT + 4)
_ITEM = " " * (INDENT + 8)
_INNER = " " * (INDENT + 12)
_DEEP = " " * (INDENT + 16)

_START = (f"Phase(\n{_FIELD}number=", NumberSlot())
_END = " " * INDENT + ")"


class FenceHere(NamedTuple):
    """Between pieces of prose: the place of one of the unit's fences, on lines of its own between fence marks."""

    scope: Literal["own", "shared"]
    fence: int


Prose = str | FenceHere


def render_phase(unit: Unit, segments: Sequence[Prose], grants: Sequence[Grant]) -> PhaseCode:
    """The code of a phase with these instructions and grants; its title and hand-overs are the unit's.

    `segments`: text as it is to be read, and fences; a text before a fence ends its last line. `grants`: the unit's
    own, or with fewer operations where they are narrowable (T7).
    """
    writer = _Writer()
    writer.text(f",\n{_FIELD}title={literal(unit.title)},\n{_FIELD}instructions=(\n")
    _write_instructions(writer, segments)
    writer.text(f"{_FIELD}),\n")
    if grants:
        writer.text(f"{_FIELD}tools=(\n")
        for grant in grants:
            writer.text(_grant(grant) if grant.options else _plain_grant(grant))
        writer.text(f"{_FIELD}),\n")
    if unit.handovers:
        writer.text(f"{_FIELD}handovers=(\n")
        for handover in unit.handovers:
            _write_handover(writer, handover)
        writer.text(f"{_FIELD}),\n")
    writer.text(_END)
    return writer.code()


class _Writer:
    """A phase as it grows: behind its start, the pieces before the last slot, and the texts behind it."""

    def __init__(self) -> None:
        self._pieces: list[CodePiece] = [*_START]
        self._texts: list[str] = []
        self.text = self._texts.append

    def slot(self, slot: FenceSlot) -> None:
        self._pieces += ("".join(self._texts), slot)
        self._texts.clear()

    def code(self) -> PhaseCode:
        self._pieces.append("".join(self._texts))
        return PhaseCode(tuple(self._pieces))


def _write_instructions(writer: _Writer, segments: Sequence[Prose]) -> None:
    pending = ""
    empty = True
    for segment in segments:
        if isinstance(segment, str):
            pending += segment
            if pending.endswith("\n"):
                writer.text(_prose(pending))
                pending, empty = "", False
            continue
        if pending:
            writer.text(_prose(f"{pending}\n"))
        writer.text(_ITEM)
        writer.slot(FenceSlot(segment.scope, segment.fence, "instructions", len(_ITEM)))
        writer.text("\n")
        pending, empty = "", False
    if pending or empty:
        writer.text(_prose(pending))


def _prose(text: str) -> str:
    return _short_prose(text) if len(text) <= _SHORT else _long_prose(text)


def _any_prose(text: str) -> str:
    return f"{_ITEM}{lines(text, _ITEM)}\n"


_SHORT = 2000

_short_prose = lru_cache(maxsize=1024)(_any_prose)
"""What stands outside all phases is in the instructions of each, and much of the rest in those of every document."""

_long_prose = lru_cache(maxsize=4)(_any_prose)
"""Of what is long only what stands outside all phases comes again, and soon."""


def _grant(grant: Grant) -> str:
    """A line (or more, where it is long) of `tools`. What a reader must see of a connector is never a default."""
    arguments = [literal(grant.tool)]
    connector = grant.kind != "standard"
    if grant.categories:
        arguments.append(f"categories={strings(grant.categories)}")
    if connector or grant.read_only:
        arguments.append(f"read_only={grant.read_only}")
    if connector or grant.operations:
        arguments.append(f"operations={strings(grant.operations)}")
    if grant.options:
        arguments.append(f"options={value(dict(grant.options))}")
    constructor = CONSTRUCTORS[grant.kind]
    line = f"{_ITEM}{constructor}({', '.join(arguments)}),\n"
    if len(line) <= _WIDTH:
        return line
    body = "".join([f"{_INNER}{argument},\n" for argument in arguments])
    return f"{_ITEM}{constructor}(\n{body}{_ITEM}),\n"


_plain_grant = lru_cache(maxsize=1024)(_grant)
"""Of a grant without options: its words are the catalog's, few, and the same in many documents."""


def strings(values: tuple[str, ...] | None) -> str:
    """A tuple of strings as a literal; None as itself."""
    if values is None:
        return "None"
    inner = ", ".join([literal(entry) for entry in values])
    return f"({inner},)" if len(values) == 1 else f"({inner})"


def _write_handover(writer: _Writer, handover: UnitHandover) -> None:
    fields = [f"name={literal(handover.name)}", f"tool={literal(handover.tool)}"]
    if handover.categories:
        fields.append(f"categories={strings(handover.categories)}")
    fields += (
        f"read_only={handover.read_only}",
        f'mode="{handover.mode}"',
        f"operations={strings(handover.operations)}",
    )
    if handover.argument is not None:
        fields.append(f"argument={literal(handover.argument)}")
    if handover.fixed_arguments != "{}":
        fields.append(f"fixed_arguments={value(json.loads(handover.fixed_arguments))}")
    if handover.placeholders:
        fields.append(f"placeholders={strings(handover.placeholders)}")
    body = "".join([f"{_INNER}{entry},\n" for entry in fields])
    writer.text(f"{_ITEM}Handover(\n{body}{_INNER}text=(\n{_DEEP}")
    writer.slot(FenceSlot("own", handover.fence, "text", len(_DEEP)))
    writer.text(f"\n{_INNER}),\n{_ITEM}),\n")
