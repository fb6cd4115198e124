"""What was written stays; what was deleted, edited or only touched is found out (O1, O2)."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from cli.publishing import Publisher
from pipeline.compilation import Compilation

from .world import Versioned, World, what_ran

NAMES = {"procedure.py", "manifest.json", "graph.mmd"}


class Press:
    """Compiles a world into a folder, again and again."""

    def __init__(self, out: Path) -> None:
        self.world = World()
        self.folder = out / "weekly"
        self._out = out

    def compile(self, out: Path | None = None) -> Compilation:
        compiler = self.world.compiler()
        publisher = Publisher(out or self._out, {"weekly.md": "weekly"}, self.world.generator.identity)
        project = self.world.project(compiler, "weekly.md")
        return compiler.compile(self.world.input("weekly.md"), project, publish=publisher)

    def contents(self) -> dict[str, bytes]:
        return {file.name: file.read_bytes() for file in self.folder.iterdir()}

    def times(self) -> dict[str, tuple[int, int]]:
        """And which file it is: two compiles may fall within one tick of the file system's clock."""
        return {file.name: (file.stat().st_mtime_ns, file.stat().st_ino) for file in self.folder.iterdir()}


@pytest.fixture
def press(tmp_path: Path) -> Press:
    return Press(tmp_path)


def test_a_compile_writes_its_three_files(press: Press) -> None:
    """And the module is what was proven."""
    compilation = press.compile()
    contents = press.contents()
    assert contents.keys() == NAMES
    assert compilation.module is not None
    assert contents["procedure.py"].decode() == compilation.module.source


def test_an_unchanged_document_writes_nothing(press: Press) -> None:
    """Not a file is touched."""
    press.compile()
    before = press.times()
    assert what_ran(press.compile().stages) == {}
    assert press.times() == before


def delete(file: Path) -> None:
    file.unlink()


def edit(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1] + b" ")


def grow(file: Path) -> None:
    file.write_bytes(file.read_bytes() + b"#")


@pytest.mark.parametrize("name", sorted(NAMES))
@pytest.mark.parametrize("harm", [delete, edit, grow])
def test_output_that_is_not_as_written_is_written_again(press: Press, name: str, harm: Callable[[Path], None]) -> None:
    """Though no stage runs; also where the size is the same."""
    press.compile()
    before = press.contents()
    harm(press.folder / name)
    assert what_ran(press.compile().stages) == {}
    assert press.contents() == before


def test_output_that_was_only_touched_stays_and_is_read_once(press: Press) -> None:
    """The receipt gets the new time."""
    first = press.compile().receipt
    module = press.folder / "procedure.py"
    os.utime(module, ns=(1, 1))
    second = press.compile().receipt
    assert second != first
    assert module.stat().st_mtime_ns == 1
    assert press.compile().receipt == second


def test_another_folder_gets_its_own_output(press: Press, tmp_path: Path) -> None:
    """The receipt of one folder says nothing about another."""
    press.compile()
    press.compile(tmp_path / "else")
    assert {file.name for file in (tmp_path / "else" / "weekly").iterdir()} == NAMES


def test_a_failed_compile_leaves_the_earlier_output(press: Press) -> None:
    """And mending the document finds it as it was."""
    press.compile()
    before, times = press.contents(), press.times()
    press.world.edit("ledger の query", "帳簿")
    assert press.compile().status == "failed"
    assert press.contents() == before
    press.world.edit("帳簿", "ledger の query")
    press.compile()
    assert press.times() == times


def test_a_comment_changes_the_manifest_alone(press: Press) -> None:
    """The module is byte for byte what it was (R1)."""
    press.compile()
    before = press.times()
    press.world.edit("資料を探す。", "資料を探す。\n\n<!-- 注 -->")
    press.compile()
    changed = {name for name, time in press.times().items() if time != before[name]}
    assert changed == {"manifest.json"}


def test_the_manifest_says_what_was_carried_over(press: Press) -> None:
    """Places of phases whose code another version made (R3)."""
    press.world.generator = Versioned("1")
    press.compile()
    press.world.generator = Versioned("next")
    assert press.compile().carried == {0, 1, 3}
    assert press.contents()["manifest.json"].count(b'"carried": true') == 3
