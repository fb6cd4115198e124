"""Helm's releases in a cluster."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml

from tests.chart.apiserver.cluster import BEFORE, Cluster
from tests.chart.apiserver.comparing import differences, state
from tests.chart.rendering import RELEASE, Object, helm, identity

_OWN: Final = "Secret/sh.helm.release.v1."
"""What Helm keeps of a revision."""


@dataclass(frozen=True)
class Release:
    """One of a chart in a namespace, whether it is there yet or not. `major`: the Helm that is asked."""

    cluster: Cluster
    namespace: str
    chart: Path
    major: int

    def helm(self, *arguments: str, given: str = "", major: int | None = None) -> str:
        """Raises Refused."""
        options = ("--namespace", self.namespace)
        return helm(major or self.major, *arguments, *options, given=given, home=self.cluster.home)

    def install(self, values: str) -> None:
        """Raises Refused."""
        self.helm("install", RELEASE, str(self.chart), "--values", "-", given=values)

    def upgrade(self, values: str) -> None:
        """Raises Refused."""
        self.helm("upgrade", RELEASE, str(self.chart), "--values", "-", "--reset-values", given=values)

    def rollback(self, revision: int) -> None:
        """Raises Refused."""
        self.helm("rollback", RELEASE, str(revision))

    def uninstall(self) -> None:
        """Raises Refused."""
        self.helm("uninstall", RELEASE)

    def sent(self) -> list[Object]:
        """What the last revision consists of, as Helm sent it."""
        return [found for found in yaml.safe_load_all(self.helm("get", "manifest", RELEASE)) if found]

    def revisions(self) -> list[str]:
        """What became of each, the first one first."""
        history = json.loads(self.helm("history", RELEASE, "--output", "json"))
        return [str(revision["status"]) for revision in history]

    def holds(self) -> set[str]:
        """Identities of all objects of the namespace but for what was there before, and what Helm itself keeps."""
        found = self.cluster.holds(self.namespace) - BEFORE
        return {name for name in found if not name.startswith(_OWN)}

    def kept(self) -> dict[str, Object]:
        """The last revision's objects as the server keeps them, by identity."""
        return {identity(found): self.cluster.read(found, self.namespace) for found in self.sent()}

    def states(self) -> dict[str, Object]:
        return {name: state(found) for name, found in self.kept().items()}

    def differences(self) -> list[str]:
        """Where the server does not keep what was sent."""
        kept = self.kept()
        return [said for found in self.sent() for said in differences(found, kept[identity(found)])]
