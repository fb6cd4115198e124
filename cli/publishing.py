"""Writing a document's output folder, and knowing without reading it that it is as it was written.

The receipt of a published document says what lies in which folder: name, sha256, size and time of change of each file.
While size and time are what they were, an unchanged document's output is not even read; a file that was only touched is
read and compared; one that was edited or deleted is written again.
"""

# A library has thousands of files to look at, and strings are faster than Path:
# ruff: noqa: PTH116, PTH118, PTH123

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

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
        if compilation.recalled and receipt is not None:
            renewed = _still_there(receipt, folder)
            if renewed is not None:
                return renewed
        return self._write(compilation, folder)

    def _write(self, compilation: Compilation, folder: str) -> Json:
        # Most documents of a library are unchanged, and need none of this.
        from pipeline.output import OutputError, files_of, write  # noqa: PLC0415

        parsed, resolved, module = compilation.parsed, compilation.resolved, compilation.module
        if parsed is None or resolved is None or module is None:
            # The store had lost what was recalled, and compiling it again has failed.
            return compilation.receipt
        positions, carried = compilation.positions, compilation.carried
        files = files_of(compilation.sha256, parsed, resolved, positions, module, self._generator, carried)
        try:
            write(Path(folder), files)
        except OutputError as error:
            raise OutputFault(error.text("ja"), error.text("en")) from error
        return _receipt(folder, {name: hashlib.sha256(data).hexdigest() for name, data in files.items()})


class _Written(NamedTuple):
    """A file as it was written. `time`: of its last change, in nanoseconds."""

    name: str
    digest: str
    size: int
    time: int


def _receipt(folder: str, digests: Mapping[str, str]) -> Json:
    """Of files that were just written or compared. Raises OSError."""
    entries: list[Json] = []
    for name, digest in digests.items():
        status = os.stat(f"{folder}/{name}")
        entries.append([name, digest, status.st_size, status.st_mtime_ns])  # a list, as it comes back from the store
    return [folder, entries]


def _still_there(receipt: Json, folder: str) -> Json:
    """The receipt, renewed if files were only touched; None if one is not what it was, or lies in another folder."""
    match receipt:
        case [where, [*entries]] if where == folder:
            written = [_Written(*entry) for entry in entries if isinstance(entry, list | tuple)]
        case _:
            return None
    touched = False
    try:
        for name, digest, size, time in written:
            path = f"{folder}/{name}"
            status = os.stat(path)
            if status.st_size != size:
                return None
            if status.st_mtime_ns != time:
                with open(path, "rb") as file:
                    if hashlib.sha256(file.read()).hexdigest() != digest:
                        return None
                touched = True
        return _receipt(folder, {entry.name: entry.digest for entry in written}) if touched else receipt
    except OSError:
        return None
