"""What `aop dev` says of the folder's catalog: that it cannot be read, and which documents a new one makes stale."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from catalog.errors import CatalogError
from catalog.load import load_layers
from cli import streams
from cli.messages import say
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from workers.bulk.plan import Plan
from workers.catalogs import Sources
from workers.ledger.recompiles import Recompiles

_UNDER_WAY: Final = ("new",)
"""The reasons of a document that is not compiled yet: its own job sees to it."""


class CatalogNews:
    """Each piece is said once. The dispatcher is who publishes and offers; it says so in its log only."""

    def __init__(self, sources: Sources, recompiles: Recompiles, lang: Lang) -> None:
        self._sources = sources
        self._recompiles = recompiles
        self._lang: Lang = lang
        self._stamp: object = ()
        self._offered: str | None = None

    def look(self) -> None:
        """Raises RedisError, OSError."""
        stamp = self._sources.stamp()
        if stamp != self._stamp:
            self._stamp = stamp
            try:
                load_layers(own=self._sources.own())
            except CatalogError as error:
                streams.note(say("dev.catalog", self._lang, detail=visible(error.message(self._lang))))
        offered = self._recompiles.offered()
        if offered != self._offered:
            self._offered = offered
            count = 0 if offered is None else self._stale(offered)
            if count:
                streams.note(say("dev.stale", self._lang, count=count))

    def _stale(self, token: str) -> int:
        kept = self._recompiles.plan(token)
        try:
            plan = None if kept is None else Plan.model_validate_json(kept)
        except ValidationError:
            return 0  # another version's
        return 0 if plan is None else sum(found.reasons != _UNDER_WAY for found in plan.documents)
