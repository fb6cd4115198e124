"""The composition root, the only place that knows all parts: from what a run was started with to what it needs."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from aop_runtime.declarations import Json
from aop_runtime.engine.models import Models, NamedModel, ScriptedModels
from aop_runtime.engine.people import Beforehand, Files, FirstOf
from aop_runtime.engine.run import Equipment
from aop_runtime.engine.script import read_script
from aop_runtime.handover.source import HandoverSource
from aop_runtime.manifest import Manifest, ManifestFault, read_manifest
from aop_runtime.plane.audit import Audit
from aop_runtime.plane.hooks import Hook
from aop_runtime.plane.permission import Rules, read_rules
from aop_runtime.plane.questions import Person
from aop_runtime.plane.redaction import Redaction
from aop_runtime.runs.folder import Plan, RunFolder
from aop_runtime.runs.vault import Vault
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.first_lists import FirstLists
from aop_runtime.sources.plugins import PluginSource
from aop_runtime.sources.protocol import Source, SourceFault
from aop_runtime.sources.redaction import Secrets
from aop_runtime.sources.servers import ServerEntry, configured, read_servers
from aop_runtime.standard.attachments import AttachmentsSource
from aop_runtime.standard.browser import BrowserSource
from aop_runtime.standard.hitl import HitlSource
from aop_runtime.standard.sandbox import SandboxSource

PROFILES = "profiles"
SERVERS = "servers"


@dataclass(frozen=True)
class Kit:
    """An `Equipment`. `environment`: where credentials are looked up. `people`: who can be asked, after the files of
    the run's folder. `approved`: patterns of calls that this process allows unasked."""

    models: Models
    rules: tuple[Rules, ...]
    servers: Mapping[str, ServerEntry]
    environment: Mapping[str, str]
    plugins: Path | None
    people: Callable[[], Sequence[Person]]
    approved: tuple[str, ...]

    def sources(self, manifest: Manifest, folder: RunFolder) -> Sequence[Source]:
        lists = FirstLists(folder.path / SERVERS)
        connectors = Connectors(manifest, self.servers, self.environment, lists=lists)
        return (
            connectors,
            HandoverSource(connectors.operation_tools),
            BrowserSource(self.servers, folder.runs.parent / PROFILES, self.environment, lists=lists),
            SandboxSource(),
            HitlSource(),
            AttachmentsSource(),
            PluginSource(self.plugins),
        )

    def hooks(self, folder: RunFolder) -> Sequence[Hook]:
        hide = self.hide(folder)
        return (Redaction(hide), Audit(folder.path / "audit.jsonl", hide))

    def person(self, folder: RunFolder) -> Person:
        return FirstOf((Beforehand(self.approved), Files(folder.path), *self.people()))

    def called(self, procedure: str) -> Equipment:
        return replace(self, models=self.models.called(procedure))

    def vault(self, folder: RunFolder) -> Vault:
        try:
            given = self._given(folder)
        except ManifestFault:
            # Without a manifest nothing is run, which is told where it is read.
            given = []
        return Vault(frozenset[str]().union(*(secrets.forms for secrets in given)), folder.run)

    def hide(self, folder: RunFolder) -> Callable[[Json], Json]:
        """Takes out what no result and no record may show: the secrets that servers are given."""
        given = self._given(folder)

        def hide(value: Json) -> Json:
            for secrets in given:
                value = secrets.hide_json(value)
            return value

        return hide

    def _given(self, folder: RunFolder) -> list[Secrets]:
        pins = read_manifest(folder.manifest).tools.values()
        names = {name for pin in pins if pin.server is not None for name in pin.server.credentials}
        found = [Secrets(self.environment[name] for name in names if name in self.environment)]
        for name, entry in self.servers.items():
            # One that lacks what it needs is given nothing.
            with contextlib.suppress(SourceFault):
                found.append(configured(name, entry, self.environment).secrets)
        return found


def equip(
    plan: Plan,
    environment: Mapping[str, str],
    people: Callable[[], Sequence[Person]] = tuple,
    approved: Sequence[str] = (),
) -> Kit:
    """What the run of `plan` needs. Raises RulesFault, ServersFault, ScriptFault."""
    models: Models = (
        ScriptedModels(read_script(Path(plan.script))) if plan.script is not None else NamedModel(plan.model)
    )
    return Kit(
        models=models,
        rules=(read_rules(Path(plan.permissions)) if plan.permissions is not None else Rules(),),
        servers={} if plan.mcp_config is None else read_servers(Path(plan.mcp_config)),
        environment=environment,
        plugins=None if plan.plugins is None else Path(plan.plugins),
        people=people,
        approved=tuple(approved),
    )
