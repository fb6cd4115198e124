"""The output folder (O1, O2): whole or as it was, whatever goes wrong."""

from __future__ import annotations

import errno
import os
import pickle
import resource
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from pipeline.generators.protocol import GeneratorIdentity
from pipeline.output import OutputError, files_of, write
from tests.generate.samples import WEEKLY, module_of

OLD = {"procedure.py": b"old\n", "graph.mmd": b"old\n", "manifest.json": b"old\n"}
NEW = {"procedure.py": b"new\n" * 1000, "graph.mmd": b"old\n", "manifest.json": b"new\n" * 1000}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def held(folder: Path) -> dict[str, bytes]:
    """What the folder holds, hidden files too."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_new_folder_holds_exactly_the_files(tmp_path: Path) -> None:
    """Parents are made; nothing temporary is left."""
    folder = tmp_path / "build" / "deep" / "週次"
    assert write(folder, NEW)
    assert held(folder) == NEW
    assert names(folder.parent) == ["週次"]


def test_an_existing_folder_gets_what_changed(tmp_path: Path) -> None:
    """Other files in it stay; a file that is the same is not even touched."""
    write(tmp_path / "x", OLD)
    (tmp_path / "x" / "notes.txt").write_bytes(b"mine")
    os.utime(tmp_path / "x" / "graph.mmd", (1, 1))
    assert write(tmp_path / "x", NEW)
    assert held(tmp_path / "x") == {**NEW, "notes.txt": b"mine"}
    assert (tmp_path / "x" / "graph.mmd").stat().st_mtime == 1


def test_nothing_is_written_where_nothing_changed(tmp_path: Path) -> None:
    """The same files again: no write, and it says so."""
    write(tmp_path / "x", OLD)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "x").iterdir()}
    assert not write(tmp_path / "x", OLD)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "x").iterdir()} == before


def test_a_deleted_file_comes_back(tmp_path: Path) -> None:
    """The folder is completed, also an empty one that somebody made."""
    write(tmp_path / "x", OLD)
    (tmp_path / "x" / "graph.mmd").unlink()
    assert write(tmp_path / "x", OLD)
    assert held(tmp_path / "x") == OLD
    (tmp_path / "empty").mkdir()
    assert write(tmp_path / "empty", OLD)
    assert held(tmp_path / "empty") == OLD


@contextmanager
def room_for(size: int) -> Iterator[None]:
    """Within, a write beyond `size` bytes of a file fails like one on a full disk does: in its middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


def test_a_write_that_fails_in_its_middle_leaves_the_earlier_output(tmp_path: Path) -> None:
    """No file is replaced before all are written; what was written so far is removed."""
    write(tmp_path / "x", OLD)
    with room_for(1500), pytest.raises(OutputError) as caught:
        write(tmp_path / "x", NEW)
    assert held(tmp_path / "x") == OLD
    assert caught.value.path == str(tmp_path / "x")


def test_a_new_folder_that_cannot_be_completed_does_not_appear(tmp_path: Path) -> None:
    """Neither half of it nor its temporary shape."""
    with room_for(1500), pytest.raises(OutputError):
        write(tmp_path / "x", NEW)
    assert list(tmp_path.iterdir()) == []


def test_what_is_in_the_way_stays_and_is_named(tmp_path: Path) -> None:
    """A file where the folder should be, a file where its parent should be, a folder where a file should be."""
    (tmp_path / "x").write_bytes(b"mine")
    for folder in (tmp_path / "x", tmp_path / "x" / "y"):
        with pytest.raises(OutputError) as caught:
            write(folder, NEW)
        assert caught.value.problem == "in-the-way"
    assert held(tmp_path) == {"x": b"mine"}
    (tmp_path / "z" / "procedure.py").mkdir(parents=True)
    with pytest.raises(OutputError, match="in the way"):
        write(tmp_path / "z", NEW)
    assert names(tmp_path / "z") == ["procedure.py"]


@pytest.mark.parametrize("endless", ["/dev/zero", "pipe", "round"])
def test_what_is_no_file_is_not_read(tmp_path: Path, endless: str) -> None:
    """A link to a device, a pipe that nobody writes to, a link that leads in a circle: replaced, not waited for."""
    write(tmp_path / "x", OLD)
    (tmp_path / "x" / "graph.mmd").unlink()
    if endless == "pipe":
        os.mkfifo(tmp_path / "x" / "graph.mmd")
    else:
        (tmp_path / "x" / "graph.mmd").symlink_to("graph.mmd" if endless == "round" else endless)
    assert write(tmp_path / "x", OLD)
    assert held(tmp_path / "x") == OLD
    assert not (tmp_path / "x" / "graph.mmd").is_symlink()


class Deleting(Mapping[str, bytes]):
    """Files in whose midst somebody deletes a folder, as often as told."""

    def __init__(self, files: Mapping[str, bytes], folder: Path, times: int) -> None:
        self._files = files
        self._folder = folder
        self._left = times

    def __getitem__(self, name: str) -> bytes:
        if name == "graph.mmd" and self._left:
            self._left -= 1
            shutil.rmtree(self._folder)
        return self._files[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)


@pytest.mark.parametrize("deleted", ["build", "build/x"])
def test_a_folder_that_is_deleted_while_it_is_written(tmp_path: Path, deleted: str) -> None:
    """It is made again, and whole in the end; but not for ever."""
    folder = tmp_path / "build" / "x"
    write(folder, OLD)
    assert write(folder, Deleting(NEW, tmp_path / deleted, 1))
    assert held(folder) == NEW
    assert names(folder.parent) == ["x"]
    shutil.rmtree(tmp_path / "build")
    assert write(folder, Deleting(NEW, tmp_path / "build", 3))
    assert held(folder) == NEW
    with pytest.raises(OutputError) as caught:
        write(folder, Deleting(OLD, tmp_path / "build", 100))
    assert caught.value.problem == "failed"


def test_errors_say_what_where_and_what_to_do_in_both_languages(tmp_path: Path) -> None:
    """Each kind of problem has its sentence; an unusual one keeps the system's own words."""
    for code, problem in ((errno.ENOSPC, "no-space"), (errno.EACCES, "not-allowed"), (errno.EROFS, "not-allowed")):
        error = OutputError("build/x", "failed", os.strerror(code))
        assert os.strerror(code) in str(error)
        assert problem != error.problem
    with pytest.raises(OutputError) as caught:
        write(tmp_path / ("長" * 200), NEW)
    assert caught.value.problem == "too-long"
    assert "パスが長すぎます" in caught.value.text("ja")
    assert "path is too long" in caught.value.text("en")


def test_an_error_survives_the_way_from_another_process() -> None:
    """Documents are compiled by several processes, and one of them tells."""
    error = pickle.loads(pickle.dumps(OutputError("build/x", "no-space", "full")))  # noqa: S301 - made here
    assert isinstance(error, OutputError)
    assert (error.path, error.problem, str(error)) == (
        "build/x",
        "no-space",
        str(OutputError("build/x", "no-space", "full")),
    )


def test_compiles_at_once_leave_one_whole_output(tmp_path: Path) -> None:
    """Whoever is last: every file is one that somebody wrote, whole, and nothing temporary is left."""
    contents = [{name: f"{number}\n".encode() * 2000 for name in OLD} for number in range(8)]
    threads = [threading.Thread(target=write, args=(tmp_path / "x", files)) for files in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = held(tmp_path / "x")
    assert set(found) == set(OLD)
    assert all(data in [files[name] for files in contents] for name, data in found.items())
    assert names(tmp_path) == ["x"]


def test_the_files_are_the_three_of_the_output_the_manifest_last() -> None:
    """The manifest names the module's digest: written last, it never vouches for a module that is not there yet."""
    module = module_of(WEEKLY)
    files = files_of(
        "0" * 64, WEEKLY.parsed, WEEKLY.resolved, WEEKLY.positions, module, GeneratorIdentity("template", "1")
    )
    assert list(files) == ["procedure.py", "graph.mmd", "manifest.json"]
    assert files["procedure.py"] == module.source.encode()
