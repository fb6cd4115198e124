"""A folder that hostile code has filled: counted and emptied without being led outside."""

from __future__ import annotations

import os
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aop_runtime.confinement import scratch
from aop_runtime.confinement.scratch import DEEPEST, contents, empty

_NAMES = st.sampled_from(["a", "b", ".lifted-1", ".lifted-2", "あ"])
_TREES = st.recursive(st.just(None), lambda inner: st.dictionaries(_NAMES, inner, max_size=4), max_leaves=25)


def _plant(folder: Path, tree: dict[str, object] | None) -> int:
    """How many entries were made; `None` is a file."""
    count = 0
    for name, inner in (tree or {}).items():
        count += 1
        if inner is None:
            (folder / name).write_text("x", encoding="ascii")
        else:
            (folder / name).mkdir()
            assert isinstance(inner, dict)
            count += _plant(folder / name, inner)
    return count


def _deep(folder: Path, levels: int) -> None:
    """Deeper than a path can be long."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d" * 20, dir_fd=here)
        below = os.open("d" * 20, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tree=_TREES)
def test_every_entry_is_counted_and_every_entry_is_deleted(tmp_path_factory: object, tree: object) -> None:
    """Whatever the names: also those that emptying gives itself."""
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        planted = _plant(folder, tree if isinstance(tree, dict) else None)
        assert contents(made, 1_000).entries == planted
        empty(made)
        assert list(folder.iterdir()) == []


def test_sizes_are_those_on_the_disk(tmp_path: Path) -> None:
    """A sparse file takes none of it; a hundred kilobytes take at least that."""
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(10**12)
    assert contents(str(tmp_path), 10).size < 10**6
    (tmp_path / "full").write_bytes(b"x" * 100_000)
    assert contents(str(tmp_path), 10).size >= 100_000


def test_links_are_counted_and_not_followed(tmp_path: Path) -> None:
    """Deleting them leaves alone what they lead to."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_text("kept", encoding="ascii")
    folder = tmp_path / "scratch"
    folder.mkdir()
    (folder / "folder").symlink_to(outside)
    (folder / "file").symlink_to(outside / "x")
    (folder / "loop").symlink_to(folder)
    assert contents(str(folder), 100).entries == 3
    empty(str(folder))
    assert list(folder.iterdir()) == []
    assert (outside / "x").read_text(encoding="ascii") == "kept"


def test_a_link_in_the_folders_place_is_not_taken_for_it(tmp_path: Path) -> None:
    """It counts as nothing."""
    (tmp_path / "x").touch()
    (tmp_path / "link").symlink_to(tmp_path)
    assert contents(str(tmp_path / "link"), 10) == scratch.Contents(0, 0, too_deep=False)


def test_counting_stops_at_the_limit(tmp_path: Path) -> None:
    """A million files do not keep it busy."""
    for number in range(20):
        (tmp_path / str(number)).touch()
    found = contents(str(tmp_path), 10)
    assert (found.entries, found.more) == (11, True)


def test_a_tree_without_end_is_seen_and_deleted(tmp_path: Path) -> None:
    """Three thousand levels, where paths and recursion end at one thousand."""
    _deep(tmp_path, 3_000)
    assert contents(str(tmp_path), 10_000).too_deep
    empty(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_just_the_allowed_depth_is_not_too_deep(tmp_path: Path) -> None:
    """The limit itself may be reached."""
    _deep(tmp_path, DEEPEST)
    assert not contents(str(tmp_path), 1_000).too_deep
