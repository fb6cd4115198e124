"""The schemas that pass between stages. They hold meaning only: no line, no column, no path, no time (R1, R4).

Where something stands in the document is an *anchor*: an index into the `Positions` (`pipeline.places`) that the parse
stage hands out beside its artifact. Anchors are numbered in document order, so two documents that differ only in
comments, blank lines or indentation have equal artifacts and different positions.

They are named tuples: made, compared, hashed and encoded in a third of a dataclass's time. Only the module, which keeps
its bytes and their digest, is none.
"""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

Segment: TypeAlias = str | int
"""A piece of prose: Markdown text, or the index of the fence that stands there."""


# --------------------------------------------------------------------------------------------------- parse


class Fence(NamedTuple):
    """A fenced code block. `text`: exactly what must reach an agent; `language`: the info string's first word."""

    language: str | None
    text: str
    anchor: int

    @property
    def blank(self) -> bool:
        """Whether it goes nowhere (I1)."""
        return not self.text.strip()

    @property
    def typescript(self) -> bool:
        """Whether it runs as TypeScript where it is handed over (V3)."""
        return (self.language or "").lower() in ("ts", "js", "typescript")


class Item(NamedTuple):
    """One ITEM of a tool declaration, not yet looked up (T2). White space runs are one space, comments are gone.

    `head` is `NAME` or `NAME の CATEGORY`, "" for an empty item; `groups` the contents of the parentheses behind it,
    `only` whether のみ stood there.
    """

    text: str
    head: str
    groups: tuple[str, ...]
    only: bool
    anchor: int


class ToolDeclaration(NamedTuple):
    """`(使う道具: …)`, or one item of a list under 利用可能なツール (`listed`).

    `closed` is False for an unclosed one (T10), which has no items.
    """

    written: str
    items: tuple[Item, ...]
    anchor: int
    listed: bool = False
    closed: bool = True


class CallDeclaration(NamedTuple):
    """`(呼び出す AOP: 名前)`; `target` is trimmed, as written, possibly empty."""

    written: str
    target: str
    anchor: int
    closed: bool = True


class HandoverDeclaration(NamedTuple):
    """A hand-over that is either readable or directly above a fence (V1, V8).

    `fence` is the index of the fence directly below, None for a detached one. `stacked`: another declaration of the
    same fence stands below (V7). `readable` is the form only; `items` and `marks` are empty unless it is readable.
    `marks` is None without `差し替え:`; an empty string in it is an empty placeholder.
    """

    written: str
    anchor: int
    fence: int | None
    stacked: bool
    readable: bool
    items: tuple[Item, ...]
    marks: tuple[str, ...] | None
    closed: bool = True


class Section(NamedTuple):
    """A phase, the whole of a single-phase document, or (first in `ParsedDocument`) everything outside all phases.

    `mentionable`: the pieces of text in which a connector's name is a mention (T9), piece i at anchor
    `mention_anchor + i`; empty where a declaration or a call makes mentions irrelevant.
    `values`: the blocks in which V5 looks for argument values, code spans between U+FDD0 and U+FDD1; empty where the
    document hands nothing over as an argument.
    """

    number: int | None
    title: str
    anchor: int
    body: tuple[Segment, ...]
    fences: tuple[int, ...]
    tools: tuple[ToolDeclaration, ...]
    calls: tuple[CallDeclaration, ...]
    handovers: tuple[HandoverDeclaration, ...]
    mentionable: tuple[str, ...]
    mention_anchor: int
    values: tuple[str, ...]


class ParsedDocument(NamedTuple):
    """What the parse stage makes of a document.

    `phases` in document order; a single-phase document has one, with `number` None.
    """

    name: str
    kind: Literal["multi", "single"]
    fences: tuple[Fence, ...]
    outside: Section
    phases: tuple[Section, ...]


# ------------------------------------------------------------------------------------------------- resolve


class Pin(NamedTuple):
    """The definition of an operation at compile time: what the manifest pins and what a generator may read."""

    tool: str
    operation: str
    effect: Literal["read", "write"]
    description: str
    schema: str
    """Canonical JSON of the input schema; "" where the catalog gives none."""


class Contract(NamedTuple):
    """What only a run needs to know of a tool (`operation` "") or of an operation; no generator reads it.

    `definition`: canonical JSON, of the catalog's fields: for a tool `kind` and `server`, for an operation those that
    `catalog.model.Operation.definition` names.
    """

    tool: str
    operation: str
    definition: str


class Grant(NamedTuple):
    """One entry of a phase's `tools` (O2). `operations` None: an added server whose operations are unknown (T11).

    `narrowable` (T7): a generator may attach fewer of these operations.
    """

    tool: str
    kind: Literal["mcp", "http", "standard"]
    categories: tuple[str, ...]
    read_only: bool
    operations: tuple[str, ...] | None
    options: tuple[tuple[str, str], ...]
    narrowable: bool = False


class Handover(NamedTuple):
    """The dedicated tool of a hand-over declaration (V9).

    `fence` is the document-wide index of the fence whose text it holds. `fixed_arguments` is the JSON of an object, its
    keys in the order of the schema's `required`.
    """

    tool: str
    categories: tuple[str, ...]
    read_only: bool
    mode: Literal["typescript", "argument"]
    operations: tuple[str, ...] | None
    argument: str | None
    fixed_arguments: str
    placeholders: tuple[str, ...]
    fence: int
    anchor: int


class ResolvedPhase(NamedTuple):
    """`fences`: the document-wide indices of the fences in its instructions, in document order (I1).

    A phase of kind `call` has no fences, tools and hand-overs.
    """

    number: int | None
    title: str
    anchor: int
    kind: Literal["agent", "call"]
    calls: str | None
    tools: tuple[Grant, ...]
    fences: tuple[int, ...]
    handovers: tuple[Handover, ...]


class ResolvedDocument(NamedTuple):
    """What the resolve stage makes of a parsed document. `pins` and `contracts` sorted by tool and operation, each
    once; an operation of which there is nothing to know has no contract."""

    name: str
    kind: Literal["multi", "single"]
    phases: tuple[ResolvedPhase, ...]
    pins: tuple[Pin, ...]
    contracts: tuple[Contract, ...] = ()


# ------------------------------------------------------------------------------------- generate, link, verify


class UnitHandover(NamedTuple):
    """A hand-over as a generator sees it: everything but the fence's text; `fence` indexes the unit's own fences.

    `written` is the declaration as the document has it, by which instructions can refer to it.
    """

    name: str
    written: str
    tool: str
    categories: tuple[str, ...]
    read_only: bool
    mode: Literal["typescript", "argument"]
    operations: tuple[str, ...] | None
    argument: str | None
    fixed_arguments: str
    placeholders: tuple[str, ...]
    fence: int


class Unit(NamedTuple):
    """What one phase's generation reads (R1, R2): no phase number and no fence text, so that neither regenerates it.

    `shared` is the prose outside all phases, `body` the phase's own; an int in them indexes `shared_fences` and
    `own_fences`, which hold the fences' languages.
    """

    title: str
    shared: tuple[Segment, ...]
    shared_fences: tuple[str | None, ...]
    body: tuple[Segment, ...]
    own_fences: tuple[str | None, ...]
    tools: tuple[Grant, ...]
    handovers: tuple[UnitHandover, ...]
    pins: tuple[Pin, ...]

    @property
    def usual(self) -> bool:
        """Whether what its tools come to should be kept for other units: of few operations, and without options. The
        words are then the catalog's, and the same in many documents; options may be any text, and many operations are
        seldom the same twice, with something about each in what would be kept."""
        return len(self.pins) <= 100 and not any(grant.options for grant in self.tools)


class NumberSlot(NamedTuple):
    """Where link writes the phase's number."""

    slot: Literal["number"] = "number"


class FenceSlot(NamedTuple):
    """Where link writes a fence as string literals, one a source line, each line indented by `indent` spaces.

    form `instructions`: the text between its fence marks, on lines of its own; `text`: the bare text, for a hand-over.
    """

    scope: Literal["own", "shared"]
    fence: int
    form: Literal["instructions", "text"]
    indent: int
    slot: Literal["fence"] = "fence"


CodePiece: TypeAlias = str | NumberSlot | FenceSlot


class PhaseCode(NamedTuple):
    """A phase's generated code: Python source of one `Phase(…)` expression, with slots for what link places."""

    source: tuple[CodePiece, ...]


@dataclass(frozen=True)
class Module:
    """The linked module. `source_map`: (first line, last line, anchor in the document), of phases and fences."""

    source: str
    source_map: tuple[tuple[int, int, int], ...]

    @cached_property
    def data(self) -> bytes:
        """The source as a file holds it. Surrogates are escaped in literals: a module has none."""
        return self.source.encode()

    @cached_property
    def sha256(self) -> str:
        """Hex, of `data`."""
        return sha256(self.data).hexdigest()


class Fault(NamedTuple):
    """What a verifier found (I3). `phase` is an index into the resolved phases, None for the module as a whole.

    kind `fence`: the fence `fence` (document-wide index) is not verbatim in the phase's instructions; kind `tools`: the
    attached tools, or the hand-overs with their texts, are not the allowed ones; kind `form`: the module is not the
    declaration it must be. `detail` is a short English sentence for the generator and for the message.
    """

    kind: Literal["fence", "tools", "form"]
    phase: int | None
    detail: str
    fence: int | None = None


class Verdict(NamedTuple):
    faults: tuple[Fault, ...] = ()

    @property
    def proven(self) -> bool:
        return not self.faults
