"""A chart that is wrong is refused by a real API server, whichever Helm brings it: so the other tests here can fail."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Final

import pytest

from tests.chart.apiserver.cluster import BEFORE, Cluster
from tests.chart.apiserver.comparing import replaced
from tests.chart.apiserver.releases import Release
from tests.chart.apiserver.versions import replace
from tests.chart.rendering import Refused, text_of

pytestmark = pytest.mark.apiserver

HELM: Final = pytest.mark.parametrize("major", [3, 4])


def _broken(chart: Path, folder: Path, pattern: str, text: str) -> Path:
    """A copy of the chart with another text in its templates."""
    copy = folder / "aop"
    shutil.copytree(chart, copy)
    replace([*(copy / "templates").iterdir()], pattern, text)
    return copy


@HELM
def test_an_unknown_field_is_refused(major: int, cluster: Cluster, chart: Path, tmp_path: Path) -> None:
    """Neither Helm lets a field through that the server does not know: no object that has it is made."""
    broken = _broken(chart, tmp_path, "revisionHistoryLimit:", "revisionHistoryLimits:")
    of = Release(cluster, cluster.new_namespace(), broken, major)
    with pytest.raises(Refused, match="revisionHistoryLimits"):
        of.install(text_of("minimal"))
    assert [name for name in of.holds() if name.startswith("Deployment/")] == []


@HELM
def test_an_invalid_name_is_refused(major: int, cluster: Cluster, chart: Path, tmp_path: Path) -> None:
    """The server says which, and what was made before it said so goes with `helm uninstall`."""
    broken = _broken(chart, tmp_path, '"%s-dispatcher"', '"%s_dispatcher"')
    of = Release(cluster, cluster.new_namespace(), broken, major)
    with pytest.raises(Refused, match=r'(?s)"r-aop_dispatcher" is invalid: metadata\.name: Invalid value'):
        of.install(text_of("minimal"))
    assert of.revisions() == ["failed"]
    of.uninstall()
    assert cluster.holds(of.namespace) == BEFORE


@HELM
def test_a_changed_selector_is_refused(major: int, cluster: Cluster, chart: Path, tmp_path: Path) -> None:
    """An upgrade that would change what nobody may change fails, the objects stay, and a rollback brings all back."""
    of = Release(cluster, cluster.new_namespace(), chart, major)
    of.install(text_of("minimal"))
    first, before = of.states(), of.kept()
    broken = _broken(chart, tmp_path, "^app.kubernetes.io/component: ", "app.kubernetes.io/part: ")
    with pytest.raises(Refused, match=r"(?s)spec\.selector: Invalid value.*field is immutable"):
        dataclasses.replace(of, chart=broken).upgrade(text_of("minimal"))
    assert of.revisions() == ["deployed", "failed"]
    of.rollback(1)
    assert of.states() == first
    assert replaced(before, of.kept()) == []
