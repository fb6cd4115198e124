"""`--watch`: what is done again, and that nothing ends it."""

from __future__ import annotations

import json
import queue
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest
from conftest import BAD, CALLER, GOOD, command, write

PATIENCE_S = 120


class Watched:
    """A watching command: what it prints, as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.errors: list[str] = []
        self._results: queue.Queue[dict[str, dict[str, str]]] = queue.Queue()
        self._threads = [
            threading.Thread(target=self._read, args=(process.stdout, self._result), daemon=True),
            threading.Thread(target=self._read, args=(process.stderr, self.errors.append), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: IO[str] | None, take: Callable[[str], None]) -> None:
        assert stream is not None
        for line in stream:
            take(line)

    def _result(self, line: str) -> None:
        self._results.put(json.loads(line))

    def results(self, count: int) -> list[tuple[str, str]]:
        """The next `count` results: path and status, sorted by path."""
        found = [self._results.get(timeout=PATIENCE_S) for _ in range(count)]
        return sorted((result["document"]["path"], str(result["status"])) for result in found)

    def said(self, words: str) -> None:
        """Wait until that is printed on standard error."""
        until = time.monotonic() + PATIENCE_S
        while not any(words in line for line in self.errors):
            assert time.monotonic() < until, (words, self.errors)
            time.sleep(0.02)

    def silent(self) -> None:
        """Nothing more was printed to standard output."""
        assert self._results.empty()

    def join(self) -> None:
        """Read to the end."""
        for thread in self._threads:
            thread.join(timeout=PATIENCE_S)

    def interrupt(self) -> None:
        """Ctrl-C: it ends at once, and cleanly."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.wait(timeout=PATIENCE_S) == 130
        self.join()
        assert not any("Traceback" in line for line in self.errors), self.errors


@pytest.fixture
def watching(here: Path, environment: dict[str, str]) -> Callable[..., object]:
    """Start `aop compile … --watch`, ended when the block is left."""

    @contextmanager
    def start(*arguments: str, name: str = "compile") -> Iterator[Watched]:
        line = command(name, *arguments, "--watch", "--catalog", "catalog.yaml", "--format", "jsonl", "--lang", "en")
        with subprocess.Popen(
            line, cwd=here, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
        ) as process:
            watched = Watched(process)
            try:
                yield watched
                watched.interrupt()
            finally:
                process.kill()
                watched.join()

    return start


def test_saves_renames_callees_and_the_catalog(watching: Callable[..., contextmanager[Watched]], here: Path) -> None:
    """Only what changed and what depends on it is done again."""
    write("d/caller.md", CALLER)
    write("d/other.md", GOOD.replace("週次", "月次"))
    callee = write("d/weekly.md", GOOD)
    with watching("d") as watched:
        assert [path for path, _ in watched.results(3)] == ["d/caller.md", "d/other.md", "d/weekly.md"]
        watched.said("Waiting")

        callee.write_text(GOOD + "もう一言。\n", encoding="utf-8")
        assert watched.results(1) == [("d/weekly.md", "succeeded")]

        # Editors write a file of another name and rename it.
        write("d/.weekly.md.tmp", GOOD + "さらに一言。\n").rename(callee)
        assert watched.results(1) == [("d/weekly.md", "succeeded")]

        callee.write_text(GOOD.replace("週次報告", "別の名前"), encoding="utf-8")
        assert watched.results(2) == [("d/caller.md", "failed"), ("d/weekly.md", "succeeded")]

        write("d/new.md", GOOD)
        assert watched.results(2) == [("d/caller.md", "succeeded"), ("d/new.md", "succeeded")]

        Path("d/new.md").unlink()
        assert watched.results(1) == [("d/caller.md", "failed")]
        watched.said("d/new.md: gone")

        catalog = here / "catalog.yaml"
        text = catalog.read_text(encoding="utf-8")
        catalog.write_text(text + "x: [\n", encoding="utf-8")
        watched.said("aop: catalog.yaml:")
        catalog.write_text(text.replace("name: slack\n", "name: chat\n"), encoding="utf-8")
        assert watched.results(2) == [("d/other.md", "failed"), ("d/weekly.md", "failed")]
        catalog.write_text(text, encoding="utf-8")
        assert watched.results(2) == [("d/other.md", "succeeded"), ("d/weekly.md", "succeeded")]
        watched.silent()


def test_a_folder_that_comes_and_goes(watching: Callable[..., contextmanager[Watched]]) -> None:
    """Renamed away, made again, with documents that are broken in between."""
    write("d/a.md", GOOD)
    with watching("d") as watched:
        watched.results(1)
        watched.said("Waiting")
        Path("d").rename("e")
        watched.said("aop: d: there is no such file or folder")
        watched.said("d/a.md: gone")
        write("d/b.md", BAD)
        assert watched.results(1) == [("d/b.md", "failed")]
        write("d/sub/deep.md", GOOD)
        assert watched.results(1) == [("d/sub/deep.md", "succeeded")]
        shutil.rmtree("d")
        watched.said("d/sub/deep.md: gone")


def test_a_single_document_and_those_that_it_calls(watching: Callable[..., contextmanager[Watched]]) -> None:
    """Its neighbours matter once it calls, and are not compiled themselves. A check leaves nothing behind."""
    write("d/weekly.md", GOOD)
    caller = write("d/caller.md", GOOD.replace("週次", "親"))
    with watching("d/caller.md", name="check") as watched:
        assert watched.results(1) == [("d/caller.md", "succeeded")]
        watched.said("Waiting")
        caller.write_text(CALLER, encoding="utf-8")
        assert watched.results(1) == [("d/caller.md", "succeeded")]
        Path("d/weekly.md").rename("d/monthly.md")
        Path("d/monthly.md").write_text(GOOD.replace("週次", "月次"), encoding="utf-8")
        assert watched.results(1) == [("d/caller.md", "failed")]
        write("d/temporary", GOOD).replace("d/monthly.md")
        assert watched.results(1) == [("d/caller.md", "succeeded")]
        watched.silent()
    assert sorted(path.name for path in Path().iterdir()) == ["catalog.yaml", "d"]
