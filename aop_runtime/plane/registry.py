"""Which tools a phase has: of its grants, for this model, with these features. Nowhere else is that decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from aop_runtime.declarations import Json, Phase
from aop_runtime.plane import batch, read_result
from aop_runtime.plane.hooks import Hook
from aop_runtime.plane.names import named
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.protocol import Grant, Source, SourceFault


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as the model sees it."""

    name: str
    description: str
    input_schema: Mapping[str, Json] = field(hash=False)


class Registry:
    """`sources` in their order: the first that accepts a grant provides it. `model`: `provider:name`. `values`: of the
    run, for descriptions that are templates. `features`: what is switched on."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        model: str,
        hooks: Sequence[Hook] = (),
        features: frozenset[str] = frozenset(),
        values: Mapping[str, str] | None = None,
    ) -> None:
        self._sources = tuple(sources)
        self._model = model
        self._hooks = tuple(hooks)
        self._features = features
        self._values = dict(values or {})

    async def tools(self, phase: Phase) -> tuple[Tool, ...]:
        """Exactly what the phase was granted, under names that are fit and unique. Raises SourceFault."""
        found: list[Tool] = []
        for grant in (*phase.tools, *phase.handovers):
            found += await self._source(grant).tools(grant)
        fitting = [tool for tool in _once(found) if self._fits(tool.spec)]
        tools = tuple(self._described(tool) for tool in named(fitting, taken=(read_result.NAME, batch.NAME)))
        if batch.NAME in self._features and len(tools) > 1:
            tools = (*tools, self._described(batch.batch(tools)))
        return (*tools, self._described(read_result.read_result()))

    def _source(self, grant: Grant) -> Source:
        for source in self._sources:
            if source.accepts(grant):
                return source
        raise SourceFault("source.nobody", tool=grant.tool)

    def _fits(self, spec: ToolSpec) -> bool:
        asked = spec.compatibility
        return asked.features <= self._features and any(fnmatchcase(self._model, model) for model in asked.models)

    def _described(self, tool: Tool) -> Tool:
        spec = tool.spec
        described = spec.described(self._values)
        for hook in self._hooks:
            try:
                described = hook.describe(spec, described)
            except Exception as error:
                raise SourceFault("source.hook", address=spec.address, hook=hook.name, said=str(error)) from error
        return replace(tool, spec=replace(spec, description=described))

    async def aclose(self) -> None:
        """Close all sources, each whatever happens to the others. Raises what the first fault was."""
        faults: list[Exception] = []
        for source in self._sources:
            try:
                await source.aclose()
            except Exception as fault:  # noqa: BLE001 - the others are closed all the same; it is raised below
                faults.append(fault)
        if faults:
            raise faults[0]


def _once(tools: Sequence[Tool]) -> list[Tool]:
    """Two grants may name one operation (`drive` beside all of the tool): it is one tool. A hand-over is another one,
    whatever its name."""
    return list({(tool.spec.tool, tool.spec.operation, bool(tool.inner)): tool for tool in reversed(tools)}.values())[
        ::-1
    ]


def offers(tools: Sequence[Tool], *, truncated: bool) -> list[Offer]:
    """What the model is told of. `truncated`: a result of this phase was too long, so it can be read on."""
    return [
        Offer(tool.spec.name, str(tool.spec.description), tool.spec.input_schema)
        for tool in tools
        if truncated or tool.spec.name != read_result.NAME
    ]
