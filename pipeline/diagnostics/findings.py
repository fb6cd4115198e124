"""A finding: what a stage says about a document, before it is bound to lines and put into words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from pipeline.artifacts import At

Argument: TypeAlias = str | int | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """`name` is a diagnostic's name in `codes.CODES`; `variant` picks one of its messages (`""` is the main one).

    `arguments` fill the message's blanks. `at` None: no position. `phase` is the phase's number as in the document.
    """

    name: str
    at: At | None
    phase: int | None = None
    arguments: tuple[tuple[str, Argument], ...] = ()
    suggestions: tuple[str, ...] = ()
    variant: str = ""
