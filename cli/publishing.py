"""Writing a document's output folder, and knowing without reading it that it is as it was written.

The receipt of a published document says what lies in which folder: name, size and time of change of each file. While
these are what they were, an unchanged document's output is not even read. Else its files are made again and compared:
one that was only touched stays, one that was edited or deleted is written again.
"""

# A library has thousands of files to look at, and strings are faster than Path:
# ruff: noqa: PTH116, PTH118

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from cli.trouble import OutputFault
from pipeline.compilation import Compilation
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental.keys import Json


class Publisher:
    """A `Publish`. `out`: the folder of all output; `folders`: the name of each document's own in it, by path."""

    def __init__(self, out: Path, folders: Mapping[str, str], generator: GeneratorIdentity) -> None:
        self._out = out.as_posix()
        self._folders = folders
        self._generator = generator

    def folder(self, path: str) -> str:
        """Where the output of the document at `path` goes, with slashes."""
        return self._folders[path] if self._out == "." else os.path.join(self._out, self._folders[path])

    def __call__(self, compilation: Compilation) -> Json:
        """The receipt; of a failed compile the one before it: its output stays (O2). Raises OutputFault, StoreError."""
        receipt = compilation.receipt
        if compilation.status == "failed":
            return receipt
        folder = self.folder(compilation.path)
        # What ran may have come to something else for the same bytes: only a recalled compile is that of its receipt.
        if compilation.recalled and receipt is not None and _still_there(receipt, folder):
            return receipt
        return self._write(compilation, folder)

    def _write(self, compilation: Compilation, folder: str) -> Json:
        # Most documents of a library are unchanged, and need none of this.
        from pipeline.output import OutputError, files_of, write  # noqa: PLC0415 - see above

        parsed, resolved, module = compilation.parsed, compilation.resolved, compilation.module
        if parsed is None or resolved is None or module is None:
            # The store had lost what was recalled, and compiling it again has failed.
            return compilation.receipt
        positions, carried = compilation.positions, compilation.carried
        files = files_of(compilation.sha256, parsed, resolved, positions, module, self._generator, carried)
        try:
            write(folder, files)
        except OutputError as error:
            raise OutputFault(error.text("ja"), error.text("en")) from error
        return _receipt(folder, files)


def _receipt(folder: str, names: Iterable[str]) -> Json:
    """Of files that were just written or compared: their sizes, and times in nanoseconds. Raises OSError."""
    entries: list[Json] = []
    for name in names:
        status = os.stat(f"{folder}/{name}")
        entries.append([name, status.st_size, status.st_mtime_ns])  # a list, as it comes back from the store
    return [folder, entries]


def _still_there(receipt: Json, folder: str) -> bool:
    """Whether its files are in that folder as they were written, as far as sizes and times tell."""
    match receipt:
        case [where, [*entries]] if where == folder:
            names = [str(entry[0]) for entry in entries if isinstance(entry, list) and entry]
        case _:
            return False
    try:
        return bool(names) and _receipt(folder, names) == receipt
    except OSError:
        return False
