"""The file store where it cannot write: no space, no right, no folder. What was there before stays."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import shutil
import socket
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cli.commands.cache import shrink
from pipeline.stores.files import FileStore
from pipeline.stores.protocol import StoreError

NOBODY = 65534


def noise(number: int) -> bytes:
    return hashlib.shake_128(b"noise %d" % number).digest(50_000)


@contextmanager
def file_size_limit(size: int) -> Iterator[None]:
    """No file may grow beyond `size` bytes, as on a full disk but for the error number. Python ignores SIGXFSZ."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def unprivileged() -> Iterator[None]:
    """As root, rights mean nothing: be somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user may reach, which `tmp_path` is not."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        folder.chmod(0o777)


def fill_until_it_fails(store: FileStore) -> tuple[list[str], StoreError]:
    """The digests that were flushed before, and the error."""
    flushed: list[str] = []
    try:
        for number in range(1000):
            digest = store.put_blob(noise(number))
            store.flush()
            flushed.append(digest)
    except StoreError as error:
        return flushed, error
    raise AssertionError("the disk was never full")


@pytest.mark.parametrize("limit", [100_000, 500_000, 3_000_000])
def test_a_limit_on_file_sizes(tmp_path: Path, limit: int) -> None:
    """The error says what to do; what was flushed before is there, and writing goes on when there is room again."""
    store = FileStore(tmp_path)
    with file_size_limit(limit):
        flushed, error = fill_until_it_fails(store)
        assert error.fault in ("full", "unusable")
        assert str(tmp_path) in str(error)
        assert "name another folder" in str(error)
        assert "別のフォルダーを指定してください" in error.text("ja")
        assert len(store.get_blobs(flushed)) == len(flushed)
        with pytest.raises(StoreError):
            store.set_pointer("last", b"1", None)
    assert store.set_pointer("last", b"1", None)
    store.close()
    with FileStore(tmp_path) as again:
        assert again.notes == []
        assert again.stats().blobs == len(flushed) + 1  # what could not be written had stayed in memory
        assert len(again.get_blobs(flushed)) == len(flushed)


def test_closing_without_room_releases_the_store(tmp_path: Path) -> None:
    """The error comes once; the instance is closed."""
    store = FileStore(tmp_path)
    store.put_blob(noise(1))
    with file_size_limit(8192), pytest.raises(StoreError):
        store.close()
    store.close()
    with FileStore(tmp_path) as again:
        assert again.stats().blobs == 0
        assert again.notes == []


def test_an_error_of_the_compile_is_not_hidden_by_a_full_disk(tmp_path: Path) -> None:
    """What went wrong first is what the user must see."""
    store = FileStore(tmp_path)
    with file_size_limit(8192), pytest.raises(ZeroDivisionError), store:
        store.put_blob(noise(1))
        raise ZeroDivisionError


def test_a_store_cannot_begin_without_room(tmp_path: Path) -> None:
    """No half of a database stays behind."""
    with file_size_limit(1000), pytest.raises(StoreError) as caught:
        FileStore(tmp_path / ".aop")
    assert caught.value.fault in ("full", "unusable")
    assert [path.name for path in (tmp_path / ".aop").glob("store*")] == []
    with FileStore(tmp_path / ".aop") as store:
        assert store.notes == []


def test_a_compile_that_only_reads_needs_no_room(tmp_path: Path) -> None:
    """That it cannot note what it used is no reason to fail."""
    with FileStore(tmp_path, clock=lambda: 0.0) as store:
        digest = store.put_blob(b"data")
    store = FileStore(tmp_path)
    with file_size_limit(0):
        assert store.get_blob(digest) == b"data"
        store.close()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = shutil.which("mount")
    options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if mount is None or subprocess.run([mount, *options], capture_output=True, check=False).returncode != 0:
        pytest.skip(
            "mounting a small disk needs rights that this user does not have; the limit on file sizes stands in"
        )
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(tiny_disk: Path) -> None:
    """With the error of a disk that is really full; pruning and another compile make it usable again."""
    store = FileStore(tiny_disk / ".aop")
    flushed, error = fill_until_it_fails(store)
    assert error.fault == "full"
    assert "aop cache prune" in str(error)
    assert flushed
    with pytest.raises(StoreError):
        store.close()
    with FileStore(tiny_disk / ".aop") as again:
        assert len(again.get_blobs(flushed)) == len(flushed)
        assert again.notes == []
        dropped = again.prune(100_000)
        assert dropped.blobs > len(flushed) - 3
        digests = [again.put_blob(noise(-number)) for number in range(3)]
    with FileStore(tiny_disk / ".aop") as third:
        assert len(third.get_blobs(digests)) == 3


def test_a_full_disk_before_the_store_begins(tiny_disk: Path) -> None:
    """Not a byte is free: the error is the same."""
    filler = tiny_disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(bytes(3 << 20))
    with pytest.raises(StoreError) as caught:
        FileStore(tiny_disk / ".aop")
    assert caught.value.fault == "full"


def test_pruning_a_store_on_a_full_disk_that_cannot_even_be_opened(
    tiny_disk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is what the error tells users to do: the whole store goes, and there is room again."""
    folder = tiny_disk / ".aop"
    with FileStore(folder) as store:
        for number in range(8):
            store.put_blob(noise(number))
    with pytest.raises(OSError, match="No space"):
        (tiny_disk / "filler").write_bytes(bytes(3 << 20))
    with pytest.raises(StoreError) as caught:
        FileStore(folder)
    assert caught.value.fault == "full"
    assert shrink(folder, 0, "en", json=True) == 0
    assert json.loads(capsys.readouterr().out)["blob_bytes"] > 50_000
    assert [path.name for path in folder.iterdir()] == [".gitignore"]
    FileStore(folder).close()


def test_a_folder_without_the_right_to_write(open_folder: Path) -> None:
    """Whether the store would have to be made there or is there already."""
    open_folder.chmod(0o555)
    for folder in (open_folder, open_folder / ".aop"):
        with unprivileged(), pytest.raises(StoreError, match="Make the folder writable") as caught:
            FileStore(folder)
        assert caught.value.fault == "denied"
        assert str(folder) in str(caught.value)
    open_folder.chmod(0o777)
    with FileStore(open_folder) as store:
        digest = store.put_blob(b"data")
    before = store.path.read_bytes()
    store.path.chmod(0o444)
    open_folder.chmod(0o555)
    with unprivileged(), pytest.raises(StoreError) as caught:
        FileStore(open_folder).set_pointer("last", b"1", None)
    assert caught.value.fault == "denied"
    assert store.path.read_bytes() == before
    open_folder.chmod(0o777)
    store.path.chmod(0o644)
    assert FileStore(open_folder).get_blob(digest) == b"data"


def test_a_database_that_may_not_be_read(open_folder: Path) -> None:
    """It belongs to somebody else: an error, not a new store beside it."""
    with FileStore(open_folder) as store:
        store.put_blob(b"data")
    store.path.chmod(0)
    with unprivileged(), pytest.raises(StoreError) as caught:
        FileStore(open_folder)
    assert caught.value.fault == "denied"
    assert stat.S_IMODE(store.path.stat().st_mode) == 0


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    """The folder itself, or one above it."""
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / ".aop"):
        with pytest.raises(StoreError, match="needs a folder") as caught:
            FileStore(folder)
        assert caught.value.fault == "not-a-folder"
    assert (tmp_path / "file").read_text() == "mine"


def make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


OBSTACLES: dict[str, Callable[[Path], None]] = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "socket": make_socket,
    "device": lambda path: path.symlink_to(os.devnull),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
}


@pytest.mark.parametrize("companion", ["", "-wal", "-shm", "-journal"])
@pytest.mark.parametrize("kind", OBSTACLES)
def test_what_is_no_file_where_the_database_or_its_log_should_be(open_folder: Path, companion: str, kind: str) -> None:
    """It is named and left alone, and what to do is to move it: the folder is writable. A pipe is not waited for."""
    with FileStore(open_folder) as store:
        digest = store.put_blob(b"data")
    obstacle, saved = open_folder / f"{store.path.name}{companion}", open_folder / "saved"
    if not companion:
        store.path.rename(saved)
    OBSTACLES[kind](obstacle)
    with pytest.raises(StoreError, match="Move it away, or name another folder") as caught:
        FileStore(open_folder)
    assert caught.value.fault == "in-the-way"
    assert f"{obstacle.name} is in the way" in str(caught.value)
    assert f"ファイルでないもの {obstacle.name} があります" in caught.value.text("ja")
    assert os.path.lexists(obstacle)
    obstacle.rmdir() if kind == "folder" else obstacle.unlink()
    if not companion:
        saved.rename(store.path)
    with FileStore(open_folder) as again:
        assert again.notes == []
        assert again.get_blob(digest) == b"data"
