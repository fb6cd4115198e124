"""Writing a compile's output, and knowing whether what was written is still there.

The receipt of a published document says what lies in which folder: name, sha256, size and time of change of each file.
While size and time are what they were, an unchanged document's output is not even read; a file that was touched is read
and compared, and one that was edited or deleted is written again.
"""

# ruff: noqa: PTH - a library has thousands of files to look at: strings are faster than Path

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.compilation import Compilation
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental.keys import Json


@dataclass(frozen=True, slots=True)
class Publisher:
    """Publishes into `out`. `folders`: the folder's name there, by document path. Picklable."""

    out: Path
    folders: Mapping[str, str]
    generator: GeneratorIdentity

    def folder(self, path: str) -> Path:
        return self.out / self.folders[path]

    def __call__(self, compilation: Compilation) -> Json:
        """The receipt. A failed compile writes nothing, and the receipt of what is there stays (O2).

        Raises OutputError, StoreError.
        """
        receipt = compilation.receipt
        if compilation.status == "failed":
            return receipt
        folder = self.folder(compilation.path)
        if compilation.recalled and receipt is not None:
            renewed = _still_there(receipt, folder)
            if renewed is not None:
                return renewed
        return self._write(compilation, folder)

    def _write(self, compilation: Compilation, folder: Path) -> Json:
        # An unchanged library writes nothing, and need not load what writes.
        from pipeline.output import files_of, write  # noqa: PLC0415

        parsed, resolved, module = compilation.parsed, compilation.resolved, compilation.module
        if parsed is None or resolved is None or module is None:
            raise ValueError(f"{compilation.path}: a compile that succeeded has a module")
        files = files_of(
            compilation.sha256, parsed, resolved, compilation.positions, module, self.generator, compilation.carried
        )
        write(folder, files)
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
        return _receipt(str(folder), digests)


def _receipt(folder: str, digests: Mapping[str, str]) -> Json:
    """Of files that were just written or compared."""
    entries: list[Json] = []
    for name, digest in digests.items():
        status = os.stat(f"{folder}/{name}")
        entries.append([name, digest, status.st_size, status.st_mtime_ns])
    return [folder, entries]


def _still_there(receipt: Json, folder: Path) -> Json:
    """The receipt, renewed if files were only touched; None if any is not what it was, or if it is of another
    folder."""
    if not isinstance(receipt, Sequence) or len(receipt) != 2 or receipt[0] != str(folder):
        return None
    where, entries = receipt
    if not isinstance(entries, Sequence):
        return None
    digests: dict[str, str] = {}
    touched = False
    for entry in entries:
        name, digest, size, time = entry
        path = f"{where}/{name}"
        try:
            status = os.stat(path)
            if status.st_size != size:
                return None
            if status.st_mtime_ns != time:
                touched = True
                with open(path, "rb") as file:
                    if hashlib.sha256(file.read()).hexdigest() != digest:
                        return None
        except OSError:
            return None
        digests[name] = digest
    return _receipt(str(where), digests) if touched else receipt
