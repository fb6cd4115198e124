"""What every release has left is read, upgraded and worked on by this version."""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from pydantic import SecretStr

from cli.main import main
from pipeline.stores.protocol import Store
from tests.release.make import DOCUMENTS, PREFIX, RETIRED, ROOT, WAITING, load
from tests.service.workers.installation import Installation
from workers.archive import Archive
from workers.connections import open_ledger, open_redis, open_store
from workers.ledger.ledger import Ledger
from workers.ledger.records import LedgerVersion
from workers.local.valkey import Valkey
from workers.reindex import reindex
from workers.settings import Settings
from workers.tokens import Tokens

RELEASES: Final = tuple(sorted((ROOT / "tests" / "data").glob("release-*")))
PUBLISHED: Final = ("multi.md", "手順/呼ぶ側.md", "手順/呼ばれる側.md")

pytestmark = pytest.mark.parametrize("release", RELEASES, ids=lambda path: path.name)


def _lay_store(release: Path, folder: Path) -> None:
    (packed,) = release.glob("*.xz")
    folder.mkdir(parents=True)
    (folder / packed.stem).write_bytes(lzma.decompress(packed.read_bytes()))


@pytest.fixture
def settings(release: Path, tmp_path: Path) -> Iterator[Settings]:
    """Of an installation with the release's store, and an empty Redis."""
    _lay_store(release, tmp_path / "store")
    with Valkey(tmp_path / "valkey", persistent=False, bound=True) as valkey:
        yield Settings(
            redis_url=SecretStr(valkey.url),
            redis_prefix=PREFIX,
            store=f"file:{tmp_path / 'store'}",
            quiet_ms=0,
            longest_wait_ms=0,
        )


@contextmanager
def _opened(settings: Settings) -> Iterator[tuple[Ledger, Archive, Store]]:
    redis = open_redis(settings)
    with open_store(settings) as store:
        yield open_ledger(settings, redis), Archive(store), store
    redis.close()


def _restored(settings: Settings, release: Path) -> None:
    redis = open_redis(settings)
    load(redis, json.loads((release / "ledger.json").read_text(encoding="utf-8")))
    redis.close()


def _states(ledger: Ledger) -> dict[str, str]:
    found = {}
    for identity in ledger.documents():
        document = ledger.document(identity)
        assert document is not None
        found[identity] = document.state
    return found


EXPECTED: Final = {
    **dict.fromkeys(PUBLISHED, "succeeded"),
    "failing.md": "failed",
    RETIRED: "retired",
    WAITING: "accepted",
}


def test_everything_in_the_store_is_read(settings: Settings) -> None:
    """Saves, outcomes, what is published with its files and results, who was retired, tokens."""
    with _opened(settings) as (_, archive, store):
        assert set(archive.documents()) == EXPECTED.keys()
        for identity in PUBLISHED:
            published = archive.published(identity)
            assert published is not None
            output = archive.output(published.output)
            assert output is not None
            assert output.files.keys() == {"procedure.py", "manifest.json", "graph.mmd"}
            assert output.result["status"] == "succeeded"
        retired = archive.published(RETIRED)
        assert retired is not None
        assert retired.retired
        (save, outcome), *_ = archive.history("failing.md", 10, 10)
        assert outcome is not None
        assert (outcome.status, outcome.errors) == ("failed", 1)
        assert archive.text(save.text) == DOCUMENTS["failing.md"].encode()
        redis = open_redis(settings)
        assert [token.name for token, _ in Tokens(store, redis, PREFIX).all()] == ["release"]
        redis.close()


def test_the_ledger_is_read_or_says_what_to_do(settings: Settings, release: Path) -> None:
    """With this version's layout it tells the same; with an earlier one it says that it is to be rebuilt."""
    _restored(settings, release)
    with _opened(settings) as (ledger, _, _):
        try:
            ledger.open()
        except LedgerVersion as error:
            assert "reindex" in str(error)
            return
        assert _states(ledger) == EXPECTED


def test_the_ledger_is_rebuilt(settings: Settings) -> None:
    """From the store alone: the same states, the published stay, and the save that nobody had compiled gets its job."""
    with _opened(settings) as (ledger, archive, _):
        found = reindex(ledger, archive)
        assert found.damaged == []
        assert _states(ledger) == EXPECTED
        jobs = [ledger.job(message.job) for message in ledger.claim()]
        assert [job.document for job in jobs if job is not None] == [WAITING]


def test_an_upgraded_installation_goes_on(settings: Settings, tmp_path: Path) -> None:
    """After a reindex the waiting save is compiled, and a new save comes after those of the release."""
    with _opened(settings) as (ledger, archive, _):
        reindex(ledger, archive)
        before = {identity: archive.published(identity) for identity in PUBLISHED}
    (tmp_path / "catalog").mkdir()
    environment = {
        "AOP_REDIS_URL": settings.redis_url.get_secret_value(),
        "AOP_REDIS_PREFIX": PREFIX,
        "AOP_STORE": settings.store,
        "AOP_CATALOG_FOLDER": str(tmp_path / "catalog"),
    }
    found = Installation(environment, tmp_path)
    found.start()
    try:
        assert found.until(lambda: found.archive.published(WAITING)).status == "succeeded"
        accepted = found.save("手順/呼ばれる側.md", DOCUMENTS["手順/呼ばれる側.md"] + "\n確かめる。\n")
        assert found.outcome(accepted).status == "succeeded"
        earlier = before["手順/呼ばれる側.md"]
        assert earlier is not None
        assert found.published("手順/呼ばれる側.md").sequence > earlier.sequence
    finally:
        found.stop()


def test_artifacts_are_proven(
    release: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """`aop verify` proves each module that the release's command line wrote, against its document."""
    monkeypatch.chdir(tmp_path)
    modules = sorted((release / "artifacts").glob("*/procedure.py"))
    assert len(modules) == 3
    for module in modules:
        (document,) = (release / "documents").rglob(f"{module.parent.name}.md")
        assert main(["verify", str(module), str(document)]) == 0, capsys.readouterr()


def test_artifacts_are_made_again(
    release: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The same documents compile to modules that are proven, whether their text is the same or not."""
    monkeypatch.chdir(tmp_path)
    documents = sorted(path for path in (release / "documents").rglob("*.md") if path.name != "failing.md")
    assert main(["compile", *map(str, documents), "--out", "build"]) == 0, capsys.readouterr()
    for document in documents:
        module = tmp_path / "build" / document.stem / "procedure.py"
        assert main(["verify", str(module), str(document)]) == 0
