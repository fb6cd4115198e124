"""Files that are replaced whole, and what is left of a process that was killed meanwhile."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from catalog.writing import beside, replace_file, sweep
from pipeline.output import write

ROOT = Path(__file__).parents[2]
FILES = {"procedure.py": b"new\n", "graph.mmd": b"new\n", "manifest.json": b"new\n"}

INTERRUPTED = """
import os, signal, sys
from pathlib import Path
from catalog import writing
from pipeline import output

def killed(path, data):
    Path(path).write_bytes(data[:1])
    os.kill(os.getpid(), signal.SIGKILL)

output.write_new = killed
output.write(Path(sys.argv[1]), {"procedure.py": b"other"})
"""
"""A process that is killed when it has begun to write."""


def killed_while_writing(folder: Path) -> None:
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(folder)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*"))


def test_what_a_killed_process_left_of_a_document_that_is_gone_is_swept(tmp_path: Path) -> None:
    """It stands beside the folders, not in one that may never be written again; the earlier output is as it was."""
    write(tmp_path / "x", FILES)
    killed_while_writing(tmp_path / "x")
    assert len(hidden(tmp_path)) == 1
    assert {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()} == FILES
    sweep(tmp_path)
    assert hidden(tmp_path) == []
    assert {path.name: path.read_bytes() for path in (tmp_path / "x").iterdir()} == FILES


def test_what_a_killed_process_left_in_a_document_s_folder_goes_with_the_next_write(tmp_path: Path) -> None:
    """Where the folder is on another file system, its files can only be written in it."""
    write(tmp_path / "x", FILES)
    (tmp_path / "x" / ".aop-999999999-0000000a.tmp").write_bytes(b"half")
    os.utime(tmp_path / "x" / ".aop-999999999-0000000a.tmp", (time.time() - 90_000,) * 2)
    write(tmp_path / "x", FILES)
    assert hidden(tmp_path) == []


def test_a_folder_on_another_file_system_is_written_in_place(tmp_path: Path) -> None:
    """A link leads there: nothing can be moved across, and all the same each file is replaced whole."""
    elsewhere = Path("/dev/shm")  # noqa: S108 - a folder of our own is made in it
    if not elsewhere.is_dir() or elsewhere.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("there is no second file system here that every user may write to")
    with tempfile.TemporaryDirectory(dir=elsewhere) as target:
        (tmp_path / "x").symlink_to(target)
        assert write(tmp_path / "x", FILES)
        assert {path.name: path.read_bytes() for path in Path(target).iterdir()} == FILES
    assert hidden(tmp_path) == []


def test_a_folder_is_written_where_it_alone_may_be() -> None:
    """Nothing may be made beside it."""
    user = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        out = Path(name)
        write(out / "x", FILES)
        (out / "x").chmod(0o777)
        out.chmod(0o555)
        if user == 0:  # for whom rights mean nothing
            os.seteuid(65534)
        try:
            assert write(out / "x", {"graph.mmd": b"newer\n"})
        finally:
            os.seteuid(user)
            out.chmod(0o755)
        assert {path.name: path.read_bytes() for path in (out / "x").iterdir()} == FILES | {"graph.mmd": b"newer\n"}


def test_a_folder_that_a_killed_process_had_begun_is_swept(tmp_path: Path) -> None:
    """It never appeared under its name."""
    killed_while_writing(tmp_path / "x")
    assert not (tmp_path / "x").exists()
    assert len([path for path in tmp_path.iterdir() if path.is_dir()]) == 1
    sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_somebody_is_writing_stays(tmp_path: Path) -> None:
    """Until it is a day old: then the number belongs to another process by now. Other hidden files are nobody's
    business."""
    ours = beside(tmp_path / "x")
    ours.write_bytes(b"")
    for name in (".aop-1-0000000a.tmp", ".aop-999999999999-0000000a.tmp", ".aop-notes", ".aop", "aop-1-0000000a.tmp"):
        (tmp_path / name).write_bytes(b"")
    before = {path.name for path in tmp_path.iterdir()}
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == before
    os.utime(ours, (time.time() - 90_000,) * 2)
    sweep(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == before - {ours.name}


def test_sweeping_what_is_not_there(tmp_path: Path) -> None:
    """No folder, a file in its place: nothing to do."""
    sweep(tmp_path / "missing")
    (tmp_path / "file").write_bytes(b"")
    sweep(tmp_path / "file")


def test_a_file_is_replaced_whole_through_links(tmp_path: Path) -> None:
    """The link stays, its target has the content; a name as long as the file system allows is no obstacle."""
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "new").symlink_to("not-yet")
    for name in ("link", "new", "x" * 255):
        replace_file(tmp_path / name, b"new")
        assert (tmp_path / name).read_bytes() == b"new"
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "not-yet").read_bytes() == b"new"
    assert hidden(tmp_path) == []


def test_a_device_is_written_to() -> None:
    """`--out /dev/null` must not replace the device."""
    replace_file(Path(os.devnull), b"new")
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


def test_a_failure_names_the_file_and_leaves_it(tmp_path: Path) -> None:
    """Not the temporary one."""
    (tmp_path / "file").write_bytes(b"mine")
    (tmp_path / "folder").mkdir()
    for path in (tmp_path / "file" / "x", tmp_path / "missing" / "x", tmp_path / "folder"):
        with pytest.raises(OSError) as caught:
            replace_file(path, b"new")
        assert caught.value.filename == str(path)
    assert (tmp_path / "file").read_bytes() == b"mine"
    assert hidden(tmp_path) == []
