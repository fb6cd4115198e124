"""A finding: what a stage says about a document, before it is bound to lines and put into words."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from pipeline.diagnostics.codes import CODES, Severity
from pipeline.places import At

Argument: TypeAlias = str | int | tuple[str, ...]


class Finding(NamedTuple):
    """`name` is a diagnostic's name in `codes.CODES`; `variant` picks one of its messages (`""` is the main one).

    `arguments` fill the message's blanks. `at` None: no position. `phase` is the phase's number as in the document.
    `severity`: where a policy decides it; None: as registered.
    """

    name: str
    at: At | None
    phase: int | None = None
    arguments: tuple[tuple[str, Argument], ...] = ()
    suggestions: tuple[str, ...] = ()
    variant: str = ""
    severity: Severity | None = None

    @property
    def fails(self) -> bool:
        """Whether the compile fails because of it."""
        return (self.severity or CODES[self.name].severity) == "error"
