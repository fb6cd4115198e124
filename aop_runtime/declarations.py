"""What a compiled procedure is made of: a generated module imports these, and is one `Procedure` of literals.

Immutable, and checked when they are made: a module that was edited by hand fails where the mistake is, not in the
middle of a run. Nothing has a default by which leaving it out would allow more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from types import MappingProxyType
from typing import Literal, TypeAlias

from aop_runtime.messages import Message, Worded

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"


class DeclarationError(Worded, ValueError):
    """A declaration holds a value that it cannot have. The message names declaration, argument and value."""


def _require(owner: object, argument: str, fits: bool, wanted: Message) -> None:
    if not fits:
        found = repr(getattr(owner, argument))
        shown = found if len(found) <= 80 else f"{found[:79]}…"
        declaration = type(owner).__name__
        raise DeclarationError(
            Message("declaration.wrong", declaration=declaration, argument=argument, wanted=wanted, found=shown)
        )


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_texts(value: object) -> bool:
    return isinstance(value, tuple) and all(map(_is_text, value))


def _check_grant(grant: Mcp | Http | Standard | Handover) -> None:
    _require(grant, "tool", _is_text(grant.tool), Message("declared.tool"))
    _require(grant, "categories", _is_texts(grant.categories), Message("declared.categories"))
    _require(grant, "read_only", isinstance(grant.read_only, bool), Message("declared.bool"))


def _check_connector(connector: Mcp | Http | Handover) -> None:
    _check_grant(connector)
    fits = connector.operations is None or _is_texts(connector.operations)
    _require(connector, "operations", fits, Message("declared.operations"))


@dataclass(frozen=True, slots=True)
class Mcp:
    """A connector by MCP. `operations`: the ones that the phase may call; None: whatever the server offers, if it was
    unknown when the procedure was compiled (then `read_only` is enforced by the server's annotations)."""

    tool: str
    _: KW_ONLY
    categories: tuple[str, ...] = ()
    read_only: bool
    operations: tuple[str, ...] | None

    def __post_init__(self) -> None:
        _check_connector(self)


@dataclass(frozen=True, slots=True)
class Http:
    """A connector by an HTTP API. `operations`: the ones that the phase may call."""

    tool: str
    _: KW_ONLY
    categories: tuple[str, ...] = ()
    read_only: bool
    operations: tuple[str, ...] | None

    def __post_init__(self) -> None:
        _check_connector(self)


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard tool. `operations`: the granted words, for a tool that has such; `options`: its settings."""

    tool: str
    _: KW_ONLY
    categories: tuple[str, ...] = ()
    read_only: bool = False
    operations: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _check_grant(self)
        _require(self, "operations", _is_texts(self.operations), Message("declared.words"))
        fits = isinstance(self.options, Mapping) and _is_texts((*self.options, *self.options.values()))
        _require(self, "options", fits, Message("declared.strings"))
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))


@dataclass(frozen=True, slots=True)
class Handover:
    """A dedicated tool that holds `text` and hands it, with values for the placeholders, to another tool unretyped.

    mode `typescript`: the text runs as TypeScript and may call `operations`; mode `argument`: it is the argument
    `argument` of the one operation, beside `fixed_arguments`.
    """

    _: KW_ONLY
    name: str
    tool: str
    categories: tuple[str, ...] = ()
    read_only: bool
    mode: Literal["typescript", "argument"]
    operations: tuple[str, ...] | None
    argument: str | None = None
    fixed_arguments: Mapping[str, Json] = field(default_factory=dict, hash=False)
    placeholders: tuple[str, ...] = ()
    text: str

    def __post_init__(self) -> None:
        _check_connector(self)
        _require(self, "name", _is_text(self.name), Message("declared.handover"))
        _require(self, "mode", self.mode in ("typescript", "argument"), Message("declared.mode"))
        if self.mode == "argument":
            _require(self, "argument", _is_text(self.argument), Message("declared.argument"))
            one = self.operations is not None and len(self.operations) == 1
            _require(self, "operations", one, Message("declared.one-operation"))
        else:
            _require(self, "argument", self.argument is None, Message("declared.no-argument"))
        fits = isinstance(self.fixed_arguments, Mapping) and all(map(_is_text, self.fixed_arguments))
        _require(self, "fixed_arguments", fits, Message("declared.fixed"))
        _require(self, "placeholders", _is_texts(self.placeholders), Message("declared.placeholders"))
        _require(self, "text", _is_text(self.text), Message("declared.text"))
        object.__setattr__(self, "fixed_arguments", MappingProxyType(dict(self.fixed_arguments)))


Tool: TypeAlias = Mcp | Http | Standard


@dataclass(frozen=True, slots=True)
class Phase:
    """One step of a procedure: an agent with `instructions` and exactly these tools, or a call of procedure `calls`.

    `number` as in the document; None: the document has no phases, and this is all of it.
    """

    _: KW_ONLY
    number: int | None
    title: str
    instructions: str | None = None
    calls: str | None = None
    tools: tuple[Tool, ...] = ()
    handovers: tuple[Handover, ...] = ()

    def __post_init__(self) -> None:
        fits = self.number is None or (isinstance(self.number, int) and not isinstance(self.number, bool))
        _require(self, "number", fits, Message("declared.number"))
        _require(self, "title", isinstance(self.title, str), Message("declared.string"))
        tools = isinstance(self.tools, tuple) and all(isinstance(tool, Mcp | Http | Standard) for tool in self.tools)
        _require(self, "tools", tools, Message("declared.tools"))
        handed = isinstance(self.handovers, tuple) and all(isinstance(entry, Handover) for entry in self.handovers)
        _require(self, "handovers", handed, Message("declared.handovers"))
        if self.calls is None:
            _require(self, "instructions", isinstance(self.instructions, str), Message("declared.instructions"))
        else:
            _require(self, "calls", _is_text(self.calls), Message("declared.procedure"))
            _require(self, "instructions", self.instructions is None, Message("declared.left-out"))
            _require(self, "tools", not self.tools, Message("declared.left-out"))
            _require(self, "handovers", not self.handovers, Message("declared.left-out"))


@dataclass(frozen=True, slots=True)
class Procedure:
    """A compiled AOP: its phases in the order in which they run."""

    _: KW_ONLY
    name: str
    phases: tuple[Phase, ...]

    def __post_init__(self) -> None:
        _require(self, "name", _is_text(self.name), Message("declared.string"))
        fits = isinstance(self.phases, tuple) and all(isinstance(phase, Phase) for phase in self.phases)
        _require(self, "phases", fits and bool(self.phases), Message("declared.phases"))

    def main(self) -> None:
        """What `python procedure.py` does: run the procedure. `--help` shows how, `--describe` what it declares."""
        from aop_runtime.command import main  # noqa: PLC0415 - only a module that is run by itself needs it

        main(self)
