"""What one worker process holds, made once, after it was forked: connections must not be shared with the parent."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from redis import Redis

from pipeline.compiler import Compiler, Options
from pipeline.generators.protocol import Generator, GeneratorIdentity
from pipeline.generators.registry import default_registry
from pipeline.stores.protocol import Store
from workers.archive import Archive
from workers.catalogs import KEPT, Catalogs
from workers.connections import open_ledger, open_redis, open_store
from workers.ledger.ledger import Ledger
from workers.measured_store import MeasuredStore
from workers.metrics import metrics
from workers.project import Projects
from workers.records import GithubReference, Reference
from workers.settings import Settings

if TYPE_CHECKING:
    from pipeline.artifacts import Fault, PhaseCode, Unit


class CountedGenerator:
    """Tells the metrics of each phase that the verifier sent back."""

    def __init__(self, generator: Generator) -> None:
        self._generator = generator

    @property
    def identity(self) -> GeneratorIdentity:
        return self._generator.identity

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        if faults:
            metrics.generator_rewrites.inc()
        return self._generator.generate(unit, faults)


@dataclass(slots=True)
class Context:
    """Used by one thread, the ledger aside. `spoiled`: no further job may use it."""

    settings: Settings
    redis: Redis
    ledger: Ledger
    store: Store
    archive: Archive
    catalogs: Catalogs
    projects: Projects
    generator: Generator
    spoiled: bool = False
    _compilers: OrderedDict[str, Compiler] = field(default_factory=OrderedDict)

    def compiler(self, catalog: str) -> Compiler:
        """One for each catalog, by its digest: so the catalog is loaded once and its answers are kept.

        Raises StoreError, CatalogMissing, RecordCorrupt.
        """
        found = self._compilers.get(catalog)
        if found is None:
            options = Options(reuse=self.settings.reuse, max_bytes=self.settings.max_document_bytes)
            found = Compiler(self.catalogs.get(catalog), self.store, self.generator, options)
            self._compilers[catalog] = found
            while len(self._compilers) > KEPT:
                self._compilers.popitem(last=False)
        self._compilers.move_to_end(catalog)
        return found

    def fetch(self, reference: Reference) -> bytes:
        """The text that a save only refers to. Raises FetchError."""
        # Few installations have such saves, and boto3 and an HTTP client are large.
        if isinstance(reference, GithubReference):
            from workers.fetching.github import GithubFetcher  # noqa: PLC0415 - see above

            github = GithubFetcher(self.settings)
            try:
                return github.fetch(reference)
            finally:
                github.close()
        from workers.fetching.s3 import S3Fetcher  # noqa: PLC0415 - see above

        s3 = S3Fetcher(self.settings)
        try:
            return s3.fetch(reference)
        finally:
            s3.close()

    def close(self) -> None:
        """Raises StoreError."""
        try:
            self.store.close()
        finally:
            self.redis.close()


def open_context(settings: Settings) -> Context:
    """Raises StoreError. Redis is connected to when it is first used."""
    redis = open_redis(settings)
    ledger = open_ledger(settings, redis)
    store = MeasuredStore(open_store(settings))
    return Context(
        settings=settings,
        redis=redis,
        ledger=ledger,
        store=store,
        archive=Archive(store),
        catalogs=Catalogs(store, redis, settings.redis_prefix),
        projects=Projects(ledger),
        generator=CountedGenerator(default_registry().find()),
    )
