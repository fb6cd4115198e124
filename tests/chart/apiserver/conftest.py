"""One server for all tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.chart.apiserver.cluster import Cluster
from tests.chart.apiserver.releases import Release
from tests.chart.apiserver.server import Etcd, KubeApiserver
from tests.chart.apiserver.versions import chart_for_1_20


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """As an operator has it before the chart comes."""
    folder = tmp_path_factory.mktemp("apiserver")
    with Etcd(folder / "etcd") as etcd, KubeApiserver(folder / "apiserver", etcd) as server, server.client() as client:
        cluster = Cluster(client, str(server.home))
        cluster.prepare()
        yield cluster


@pytest.fixture(scope="session")
def chart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For this version of Kubernetes. Not to be changed."""
    return chart_for_1_20(tmp_path_factory.mktemp("chart"))


@pytest.fixture
def release(cluster: Cluster, chart: Path) -> Callable[[int], Release]:
    """Of either Helm, in a namespace of its own."""
    return lambda major: Release(cluster, cluster.new_namespace(), chart, major)
