"""Compiles that stop at what documents say: nothing is generated, nothing kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from catalog.snapshot import Catalog
from cli.arguments import Setting
from cli.batch_worker import Job
from pipeline.compilation import Compilation
from pipeline.compiler import Options
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.stores.nothing import NoStore

if TYPE_CHECKING:
    from pipeline.artifacts import Fault, PhaseCode, Unit

T = TypeVar("T")


class NoGenerator:
    """Where nothing is generated: a `Generator` that is never asked to."""

    @property
    def identity(self) -> GeneratorIdentity:
        return GeneratorIdentity("none", "")

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        raise AssertionError("a check generates nothing")


def check_job(setting: Setting, catalog: Catalog, render: Callable[[Compilation], T]) -> Job[T]:
    """What reads documents as `aop check` does, for other ends. `render`: see `Job`."""
    return Job(
        open_store=NoStore,
        catalog=catalog,
        generator=NoGenerator(),
        options=Options(max_bytes=setting.max_bytes, check=True),
        render=render,
    )
