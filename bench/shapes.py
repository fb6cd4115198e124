"""What the worst documents cost: the whole command on 1 MiB beside the bare Markdown parse of 1 MiB of plain text.

    python -m bench.shapes

Each in a process of its own, its user time and its peak memory. A document of nothing but mistakes has up to a million
of them, each found and printed with its place: that is what takes the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from markdown_it import MarkdownIt

ROOT: Final = Path(__file__).parents[1]
SIZE: Final = 1 << 20
MOST: Final = 40

_LIST: Final = "## 利用可能なツール\n\n"
_OPEN: Final = "(使う道具: "


def filled(piece: str, before: str = "", behind: str = "") -> str:
    """As many whole pieces as there is room for."""
    room = SIZE - len((before + behind).encode())
    return before + piece * (room // len(piece.encode())) + behind


def numbered(piece: Callable[[int], str], before: str = "", behind: str = "") -> str:
    """The pieces of 0, 1, 2 … as far as there is room for them."""
    pieces: list[str] = []
    room = SIZE - len((before + behind).encode())
    while (room := room - len(piece(len(pieces)).encode())) >= 0:
        pieces.append(piece(len(pieces)))
    return before + "".join(pieces) + behind


SHAPES: Final[dict[str, Callable[[], str]]] = {
    "a million empty items": lambda: filled(",", _OPEN, ")"),
    "empty listed items": lambda: filled("-\n", _LIST),
    "lists of an empty item": lambda: filled("-\n+\n", _LIST),
    "unknown names": lambda: numbered(lambda n: f"x{n},", _OPEN, ")"),
    "phases": lambda: numbered(lambda n: f"# フェーズ{n}\n"),
    "empty headings": lambda: filled("#\n"),
}


def main(forms: tuple[str, ...] = ("text", "json", "sarif")) -> None:
    """Prints a line a shape and format."""
    plain = filled("これは普通の文です。作業を進めます。\n\n")
    bare = min(_parse(plain) for _ in range(5))
    print(f"{'bare parse of 1 MiB of plain text':<34}{bare * 1000:>9.0f} ms")
    with TemporaryDirectory() as folder:
        for name, make in SHAPES.items():
            (Path(folder) / "document.md").write_text(make(), encoding="utf-8")
            for form in forms:
                seconds, memory = _check(folder, form)
                print(f"{f'{name}: {form}':<34}{seconds / bare:>9.1f} ×   (at most {MOST}), {memory >> 20} MiB")


def _parse(text: str) -> float:
    start = time.process_time()
    MarkdownIt("commonmark").parse(text)
    return time.process_time() - start


def _check(folder: str, form: str) -> tuple[float, int]:
    """User time in seconds and peak memory in bytes of `aop check`."""
    command = [sys.executable, "-m", "cli", "check", "--format", form, "document.md"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"{' '.join(command)} ended with {process.returncode}")
    return used.ru_utime, used.ru_maxrss << 10


if __name__ == "__main__":
    main()
