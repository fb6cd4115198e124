"""Which documents a command line names: files, folders, patterns, standard input (section 9).

A folder means its `*.md`, recursively, in path order, without the output folder and hidden files and folders. Links to
files are followed, links to folders inside a folder are not: they could lead in a circle, or out of the project.
"""

# ruff: noqa: PTH100, PTH109, PTH112, PTH116, PTH118, PTH206, PTH207 - names stay the strings that were given: `Path`
# forgets a leading `./`, and has its price where there are ten thousand of them

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from cli.trouble import Trouble

STDIN: Final = "-"
SUFFIX: Final = ".md"

_MAGIC: Final = re.compile(r"[*?[]")


class Named(NamedTuple):
    """`path`: POSIX, relative to the current folder where it lies below it, else as given (O2); `-` for standard input.

    `file`: what to open; "" for standard input.
    """

    path: str
    file: str


class Selection(NamedTuple):
    """`documents`: each file once, where it was named first. `several`: whether the line named several (a folder and a
    pattern do), which decides the shape of `--format json`. `folders`: those that were named, for `--watch`.
    `faults`: folders inside them that cannot be read."""

    documents: tuple[Named, ...]
    several: bool
    folders: tuple[str, ...]
    faults: tuple[OSError, ...]


class Unusable(Exception):
    """All that is wrong with the names on a command line; each is put into words by `cli.trouble`."""

    def __init__(self, faults: Sequence[Trouble | OSError]) -> None:
        super().__init__(*faults)
        self.faults = tuple(faults)


class _Found(NamedTuple):
    named: Named
    identity: str


def discover(names: Sequence[str], out: Path) -> Selection:
    """The documents named, in order. Raises Unusable with everything that is wrong with any of the names."""
    search = _Search(out)
    wrong: list[Trouble | OSError] = []
    found: dict[str, Named] = {}
    for name in names:
        try:
            for entry in search.named_by(name):
                found.setdefault(entry.identity, entry.named)
        except (Trouble, OSError) as fault:
            wrong.append(fault)
    if wrong:
        raise Unusable(wrong)
    several = search.several or len({search.spelling(name) for name in names}) > 1
    return Selection(tuple(found.values()), several, tuple(search.folders), tuple(search.faults))


def is_pattern(name: str) -> bool:
    """Whether `discover` takes the name for a pattern."""
    return _MAGIC.search(name) is not None and not os.path.lexists(name)


def pattern_base(pattern: str) -> str:
    """The folder below which everything lies that the pattern can match."""
    plain = _MAGIC.split(pattern, maxsplit=1)[0]
    return plain.rpartition("/")[0] or ("/" if plain.startswith("/") else ".")


def folder_documents(folder: str, out: Path) -> list[Named]:
    """The documents of a folder, as `discover` finds them; none where it cannot be read."""
    return [entry.named for entry in _Search(out).below(folder)]


def all_folder_documents(folder: str, out: Path) -> list[Named]:
    """As `folder_documents`, where one that is missed would be taken for one that is gone. Raises OSError where a
    folder cannot be read."""
    search = _Search(out)
    found = [entry.named for entry in search.below(folder)]
    if search.faults:
        raise search.faults[0]
    return found


class _Search:
    def __init__(self, out: Path) -> None:
        self.several = False
        self.folders: list[str] = []
        self.faults: list[OSError] = []
        self._out = os.path.realpath(out)
        self._current = os.getcwd()

    def named_by(self, name: str) -> Iterable[_Found]:
        """Raises Trouble where that is nothing, OSError."""
        if name == STDIN:
            return [_Found(Named(STDIN, ""), STDIN)]
        if not name:
            raise Trouble("discover.no-name")
        try:
            mode = os.stat(name).st_mode
        except FileNotFoundError:
            if os.path.lexists(name):
                raise Trouble("discover.dangling", path=name) from None
            return self._matching(name)
        if not stat.S_ISDIR(mode):
            return [_Found(Named(self.shown(name), name), os.path.realpath(name))]
        self.several = True
        self.folders.append(name)
        found = list(self.below(name))
        if not found:
            raise next(iter(self.faults), Trouble("discover.empty-folder", path=name))
        return found

    def _matching(self, pattern: str) -> list[_Found]:
        if not _MAGIC.search(pattern):
            raise Trouble("discover.missing", path=pattern)
        import glob  # noqa: PLC0415 - a shell has expanded most patterns

        self.several = True
        found: list[_Found] = []
        for match in sorted(glob.iglob(pattern, recursive=True), key=_parts):
            real = os.path.realpath(match)
            if _inside(real, self._out) and not _inside(self._current, self._out):
                continue
            if os.path.isdir(match):
                found += self.below(match)
            else:
                found.append(_Found(Named(self.shown(match), match), real))
        if not found:
            raise Trouble("discover.no-match", path=pattern)
        return found

    def below(self, folder: str) -> Iterator[_Found]:
        """In path order: names are compared folder by folder."""
        real, shown = os.path.realpath(folder), self.shown(folder)
        base = "" if shown == "." else f"{shown.rstrip('/')}/"
        open_folders = [("", iter(self._entries(folder)))]
        while open_folders:
            inside, entries = open_folders[-1]
            entry = next(entries, None)
            if entry is None:
                open_folders.pop()
            elif entry.is_dir(follow_symlinks=False):
                deeper = f"{inside}{entry.name}/"
                if os.path.join(real, deeper[:-1]) != self._out:
                    open_folders.append((deeper, iter(self._entries(entry.path))))
            elif entry.name.endswith(SUFFIX) and not (entry.is_symlink() and os.path.isdir(entry.path)):
                identity = (
                    os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(real, inside, entry.name)
                )
                yield _Found(Named(f"{base}{inside}{entry.name}", entry.path), identity)

    def _entries(self, folder: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as entries:
                return sorted((e for e in entries if not e.name.startswith(".")), key=lambda entry: entry.name)
        except OSError as error:
            self.faults.append(error)
            return []

    def spelling(self, name: str) -> str:
        return name if name == STDIN else os.path.realpath(name)

    def shown(self, path: str) -> str:
        """O2's `path`."""
        absolute = os.path.abspath(path)  # lexical: a link below the current folder stays below it
        for candidate in (absolute, _resolved_folder(absolute)):
            relative = os.path.relpath(candidate, self._current)
            if relative != os.pardir and not relative.startswith(f"{os.pardir}{os.sep}"):
                return relative.replace(os.sep, "/")
        return path.replace(os.sep, "/")


def _resolved_folder(absolute: str) -> str:
    """Links on the way are resolved, the last name stays: the current folder may have been entered through a link."""
    folder, name = os.path.split(absolute)
    return os.path.join(os.path.realpath(folder), name)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _parts(path: str) -> list[str]:
    return path.split(os.sep)
