"""What a compiler is asked for, and what it answers beside a `Compilation`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from pipeline.compilation import Compilation
from pipeline.document.source import DEFAULT_MAX_BYTES
from pipeline.incremental.keys import Json
from pipeline.incremental.report import StageReport
from pipeline.project import ProjectDocument

if TYPE_CHECKING:
    from pipeline.incremental.carry import Reuse
    from pipeline.incremental.handoff import HandedCode
    from pipeline.incremental.steps import ParseStep


class Before(NamedTuple):
    """What the earlier steps of a job made and reported."""

    codes: Sequence[HandedCode]
    reported: Sequence[StageReport]


NO_STEPS = Before((), ())


class Options(NamedTuple):
    """`reuse`: R3. `rewrites`: how often a generator may try again (I3). `max_bytes`: F3.

    `check`: parse and resolve only.
    """

    reuse: Reuse = "compatible"
    rewrites: int = 2
    max_bytes: int = DEFAULT_MAX_BYTES
    check: bool = False


DEFAULTS = Options()


class Input(NamedTuple):
    """A document as saved. `path`: POSIX, relative to the project's root; F5 falls back to its stem for a name."""

    path: str
    data: bytes


class Survey(NamedTuple):
    """What a project must know of a document.

    `parse`: the report of the parse that this took, None if a record knew it; `step`: that parse, to be used again by a
    compile that follows soon. It may be dropped to save memory.
    """

    document: ProjectDocument
    sha256: str
    parse: StageReport | None
    step: ParseStep | None = None


Publish: TypeAlias = Callable[[Compilation], Json]
"""What is done with a finished compile (writing its output) before it is remembered. It returns a receipt, which the
next compile of that path has as `Compilation.receipt`. Called for failed compiles, too."""


class Advance(NamedTuple):
    """What one step of a job came to, whose stages are taken in several processes.

    `compilation`: with the stages so far; `handed`: for the next step; `finished`: the document is as it was or has
    errors, so that no step can add anything but the last, which is `Compiler.compile`.
    """

    compilation: Compilation
    handed: bytes
    finished: bool
