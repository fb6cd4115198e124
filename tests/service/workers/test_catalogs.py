"""Given a catalog's files, when a dispatcher publishes them, then every worker compiles with the same catalog."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.drift import facts_of
from catalog.errors import CatalogError
from catalog.load import load_catalog
from catalog.lock import DEFAULT_POLICY, Lock, locked_tool
from catalog.lock_file import write_lock
from catalog.own import LOCK_FILE, ORGANISATION, find_own
from workers.catalogs import (
    CURRENT,
    KEPT,
    CatalogMissing,
    CatalogRecord,
    Sources,
    pointer_of,
    publish_catalog,
    redis_key,
)
from workers.context import Context, open_context
from workers.settings import Settings

from .test_catalog_change import ORGANISATION as TEXT


@pytest.fixture
def context(service_settings: Settings) -> Iterator[Context]:
    found = open_context(service_settings)
    yield found
    found.close()


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    folder = tmp_path / "catalog"
    folder.mkdir()
    return Sources(folder)


def publish(context: Context, sources: Sources) -> str:
    return publish_catalog(sources, context.store, context.redis, context.settings.redis_prefix)


def write(sources: Sources, title: str) -> None:
    assert sources.folder is not None
    (sources.folder / ORGANISATION).write_text(TEXT.format(name="syanai", title=title))


def test_the_published_catalog_is_the_command_lines(context: Context, sources: Sources) -> None:
    """Same digest, same tools, same suggestions: whatever a document asks it."""
    write(sources, "社内")
    digest = publish(context, sources)
    assert sources.folder is not None
    expected = load_catalog(own=find_own(sources.folder))
    found = context.catalogs.get(digest)
    assert context.catalogs.current() == digest == expected.digest == found.digest
    assert found.tools() == expected.tools()
    assert found.connectors() == expected.connectors()
    assert found.suggest_tools("slakc", None) == expected.suggest_tools("slakc", None)
    assert found.tool("syanai") is not None


def test_the_lock_goes_along(context: Context, sources: Sources) -> None:
    """As `aop compile` compares what is used with it."""
    assert sources.folder is not None
    without = publish(context, sources)
    slack = load_catalog().tool("slack")
    assert slack is not None
    assert slack.operations is not None
    pinned = locked_tool(
        "slack", [operation.name for operation in slack.operations], facts_of(slack.operations), DEFAULT_POLICY
    )
    lock = Lock(("a.md",), DEFAULT_POLICY, (pinned,))
    (sources.folder / LOCK_FILE).write_text(write_lock(lock))
    digest = publish(context, sources)
    assert digest != without
    assert digest == load_catalog().with_lock(lock).digest
    assert context.catalogs.get(digest).locked("slack") == pinned
    assert context.catalogs.get(without).locked("slack") is None


def test_earlier_catalogs_stay_findable(context: Context, sources: Sources) -> None:
    """Jobs that began with one end with it; a process keeps a few of them loaded."""
    digests = []
    for number in range(KEPT + 2):
        write(sources, f"社内 {number}")
        digests.append(publish(context, sources))
    assert len(set(digests)) == len(digests)
    for number, digest in enumerate(digests):
        tool = context.catalogs.get(digest).tool("syanai")
        assert tool is not None
        assert tool.title == f"社内 {number}"
    newest = context.catalogs.get(digests[-1])
    assert context.catalogs.get(digests[-1]) is newest
    assert len(context.catalogs._loaded) == KEPT


def test_publishing_again_changes_nothing(context: Context, sources: Sources) -> None:
    """Any number of dispatchers may do it; a lost blob is stored again."""
    digest = publish(context, sources)
    before = context.store.get_pointer(CURRENT)
    assert publish(context, sources) == digest
    assert context.store.get_pointer(CURRENT) == before == context.store.get_pointer(pointer_of(digest))


def test_redis_may_have_forgotten_which_is_current(context: Context, sources: Sources) -> None:
    """The store knows."""
    digest = publish(context, sources)
    context.redis.delete(redis_key(context.settings.redis_prefix))
    assert not context.catalogs.is_known()
    assert context.catalogs.current() == digest


def test_without_a_catalog_it_is_said(context: Context) -> None:
    """Nobody has published one, the named one is not there, or another version compiled it."""
    with pytest.raises(CatalogMissing, match="aop dispatcher"):
        context.catalogs.current()
    with pytest.raises(CatalogMissing, match="the store has no catalog/"):
        context.catalogs.get("a" * 64)
    record = CatalogRecord(digest="b" * 64, blob=context.store.put_blob(b"x"), loader="0")
    context.store.set_pointer(pointer_of("b" * 64), record.to_bytes(), None)
    with pytest.raises(CatalogMissing, match="another version"):
        context.catalogs.get("b" * 64)


def test_a_wrong_file_is_refused(context: Context, sources: Sources) -> None:
    """With its place; what was published stays."""
    digest = publish(context, sources)
    assert sources.folder is not None
    (sources.folder / ORGANISATION).write_text("tools: [{name: 7}]\n")
    with pytest.raises(CatalogError, match=ORGANISATION):
        publish(context, sources)
    assert context.catalogs.current() == digest


def test_a_change_of_the_files_is_noticed(sources: Sources) -> None:
    """Written, replaced by one of the same size and time, removed; a folder of imports; and nothing else."""
    assert sources.folder is not None
    file = sources.folder / ORGANISATION
    stamps = [sources.stamp()]
    file.write_text("a")
    stamps.append(sources.stamp())
    other = sources.folder / "other"
    other.write_text("b")
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    stamps.append(sources.stamp())
    assert stamps[-1] == stamps[-2]
    other.replace(file)
    stamps[-1] = sources.stamp()
    (sources.folder / "aop-tools").mkdir()
    (sources.folder / "aop-tools" / "x.yaml").write_text("x")
    stamps.append(sources.stamp())
    file.unlink()
    stamps.append(sources.stamp())
    assert len(set(stamps)) == len(stamps)
    assert Sources(None).stamp() == ()
