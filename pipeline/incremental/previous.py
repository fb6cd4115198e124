"""The document's previous compile, as far as it still can be had: what reasons compare with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeVar

from pipeline.artifacts import ParsedDocument, Pin, ResolvedDocument, Unit
from pipeline.incremental.past import Past
from pipeline.incremental.record import Tail
from pipeline.incremental.shelf import Lost
from pipeline.stages.generate import units_of

T = TypeVar("T")


class Previous:
    """Loaded piece by piece, when a stage runs and its reason is asked for. What is lost is None."""

    def __init__(self, past: Past) -> None:
        self._past = past
        self.document = past.head.document
        self.tail: Tail = past.tail

    def other_version(self, stage: str, version: str) -> bool:
        """Whether another version of the stage made the previous compile, or one with another schema of artifacts."""
        return not self._past.made_by(stage, version)

    def _load(self, get: Callable[[Past], T | None]) -> T | None:
        try:
            return get(self._past)
        except Lost:
            return None

    @cached_property
    def parsed(self) -> ParsedDocument | None:
        return self._load(lambda past: past.parsed)

    @cached_property
    def resolved(self) -> ResolvedDocument | None:
        return self._load(lambda past: past.resolved)

    @property
    def pins(self) -> tuple[Pin, ...]:
        return () if self.resolved is None else self.resolved.pins

    @cached_property
    def units(self) -> tuple[Unit | None, ...]:
        if self.parsed is None or self.resolved is None:
            return ()
        return units_of(self.parsed, self.resolved)
