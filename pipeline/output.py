"""A document's output folder: written as a whole or not at all (O1, O2)."""

# A library has thousands of files to write, and strings are faster than Path:
# ruff: noqa: PTH102, PTH104, PTH105, PTH112, PTH116, PTH118, PTH120, PTH123

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Literal, TypeAlias

from catalog.writing import beside, hidden_name, sweep, write_new
from pipeline.artifacts import Module, ParsedDocument, ResolvedDocument
from pipeline.diagnostics.lang import Lang
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.graph import graph
from pipeline.manifest import manifest
from pipeline.places import Positions

PROCEDURE, MANIFEST, GRAPH = "procedure.py", "manifest.json", "graph.mmd"

Problem: TypeAlias = Literal["in-the-way", "not-allowed", "no-space", "too-long", "failed"]

_WORDS: dict[Problem, tuple[str, str]] = {
    "in-the-way": (
        "出力先に同じ名前のファイルがあります。消すか、--out で別のフォルダを指定してください。",
        "a file of that name is in the way: remove it, or choose another folder with --out",
    ),
    "not-allowed": (
        "書き込む権限がありません。権限を直すか、--out で別のフォルダを指定してください。",
        "it may not be written: change its permissions, or choose another folder with --out",
    ),
    "no-space": (
        "空き容量がありません。空けてから、もう一度コンパイルしてください。前の出力はそのまま残っています。",
        "there is no space left: free some and compile again; the earlier output is as it was",
    ),
    "too-long": (
        "パスが長すぎます。--out で浅いフォルダを指定してください。",
        "the path is too long: choose a folder nearer to the root with --out",
    ),
    "failed": (
        "書き込めませんでした。前の出力はそのまま残っています。",
        "it could not be written; the earlier output is as it was",
    ),
}

_PROBLEMS: dict[int, Problem] = {
    errno.EEXIST: "in-the-way",
    errno.ENOTDIR: "in-the-way",
    errno.EISDIR: "in-the-way",
    errno.EACCES: "not-allowed",
    errno.EPERM: "not-allowed",
    errno.EROFS: "not-allowed",
    errno.ENOSPC: "no-space",
    errno.EDQUOT: "no-space",
    errno.ENAMETOOLONG: "too-long",
}


class OutputError(Exception):
    """The output could not be written, and is what it was before. `path`: what could not be written."""

    def __init__(self, path: str, problem: Problem, detail: str) -> None:
        super().__init__(path, problem, detail)
        self.path = path
        self.problem: Problem = problem
        self.detail = detail

    def __str__(self) -> str:
        return self.text("en")

    def text(self, lang: Lang) -> str:
        """What, where and what to do."""
        return f"{self.path}: {_WORDS[self.problem][lang == 'en']} ({self.detail})"


def files_of(
    sha256: str,
    parsed: ParsedDocument,
    resolved: ResolvedDocument,
    positions: Positions,
    module: Module,
    generator: GeneratorIdentity,
    carried: frozenset[int] = frozenset(),
) -> dict[str, bytes]:
    """The folder's files by name, the manifest last. Arguments as in `manifest.manifest`."""
    return {
        PROCEDURE: module.data,
        GRAPH: graph(resolved).encode(),
        MANIFEST: manifest(sha256, parsed, resolved, positions, module, generator, carried),
    }


_ATTEMPTS = 5

_ELSEWHERE = (errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS)
"""A folder that is mounted, or a link to another file system, or the only one that may be written: what is meant for it
can only be written in it."""


def write(folder: Path | str, files: Mapping[str, bytes]) -> bool:
    """Have `folder` hold these files; others in it stay. Returns whether anything was written. Raises OutputError.

    A new folder appears complete. In one that exists all files are written in full before the first is replaced, in the
    order given; one that is the same already is not touched. What a kill leaves of either stands beside `folder`, where
    `catalog.writing.sweep` finds it even if the document is never written again. Two compiles at once do not mix inside
    a file, and a folder that somebody deletes meanwhile is made again.
    """
    folder = os.fspath(folder)
    for left in reversed(range(_ATTEMPTS)):
        try:
            if not os.path.isdir(folder) and _create(folder, files):
                return True
            return _update(folder, files)
        except OSError as error:
            if isinstance(error, FileNotFoundError) and left:
                continue
            problem = _PROBLEMS.get(error.errno or 0, "failed")
            raise OutputError(str(Path(folder)), problem, error.strerror or str(error)) from error
    raise AssertionError("the last attempt returns or raises")


def _create(folder: str, files: Mapping[str, bytes]) -> bool:
    """False if somebody else made the folder meanwhile."""
    staging = os.path.join(os.path.dirname(folder), hidden_name())
    try:
        os.mkdir(staging)
    except FileNotFoundError:
        Path(folder).parent.mkdir(parents=True, exist_ok=True)
        os.mkdir(staging)
    try:
        for name, data in files.items():
            write_new(f"{staging}/{name}", data)
        os.rename(staging, folder)
    except BaseException as error:  # an interrupt, too, leaves nothing behind
        shutil.rmtree(staging, ignore_errors=True)
        if isinstance(error, OSError) and os.path.isdir(folder):
            return False
        raise
    return True


def _update(folder: str, files: Mapping[str, bytes]) -> bool:
    sweep(Path(folder))
    changed = {name: data for name, data in files.items() if not _holds(f"{folder}/{name}", data)}
    try:
        _replace(folder, changed, Path(folder))
    except OSError as error:
        if error.errno not in _ELSEWHERE:
            raise
        _replace(folder, changed, Path(folder, PROCEDURE))
    return bool(changed)


def _replace(folder: str, files: Mapping[str, bytes], place: Path) -> None:
    """`place`: beside what the files are written first."""
    staged: dict[str, Path] = {}
    try:
        for name, data in files.items():
            target = f"{folder}/{name}"
            staged[target] = beside(place)
            write_new(staged[target], data)
        for target, temporary in staged.items():
            os.replace(temporary, target)
    except BaseException:
        for temporary in staged.values():
            with contextlib.suppress(OSError):
                temporary.unlink()
        raise


def _holds(path: str, data: bytes) -> bool:
    """Whether it is a file with just that content. Nothing else is opened: a pipe would be waited for."""
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode) or status.st_size != len(data):
            return False
        with open(path, "rb") as file:
            return file.read() == data
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP):
            return False
        raise
