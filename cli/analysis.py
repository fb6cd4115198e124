"""One document looked at without compiling it: for the commands that compare, draw and prove."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

from catalog.snapshot import Catalog
from cli.arguments import DEFAULT_OUT, Setting
from cli.batch import compile_many
from cli.batch_worker import Broken, Document
from cli.checking import check_job
from cli.discovery import STDIN, Named, Unusable, discover
from cli.documents import STDIN_PATH, siblings_of
from cli.reading import is_shell_pipe, read_file, read_stdin
from cli.trouble import Trouble
from pipeline.compilation import Compilation


class Analysis(NamedTuple):
    """`path`: as results show it. `compilation`: of a check, so it has no module."""

    path: str
    data: bytes
    compilation: Compilation


def single(name: str, out: Path = Path(DEFAULT_OUT)) -> Named:
    """The one document that `name` is. Raises Trouble for a folder or what is not there, OSError."""
    if name == STDIN:
        return Named(STDIN, "")
    if not name:
        raise Trouble("discover.no-name")
    if is_shell_pipe(name):
        return Named(name, name)
    if Path(name).is_dir():
        raise Trouble("discover.not-a-document", path=name)
    try:
        selection = discover([name], out)
    except Unusable as unusable:
        raise unusable.faults[0] from None
    if len(selection.documents) > 1:
        raise Trouble("discover.several", path=name)
    return selection.documents[0]


def analyse(name: str, setting: Setting, catalog: Catalog, *, place: Named | None = None) -> Analysis:
    """Read, parse and resolve a document; its project is its folder.

    `place`: where a document that has no place of its own (standard input, a shell's pipe) is taken to lie.
    Raises Trouble, OSError, StoreError.
    """
    named = single(name)
    data = read_stdin() if named.path == STDIN else read_file(named.file)
    lies = place if place is not None and placeless(named) else named
    document = Document(STDIN_PATH if lies.path == STDIN else lies.path, partial(bytes, data))
    siblings = siblings_of(Named("", "") if placeless(lies) else lies, Path(DEFAULT_OUT))
    for outcome in compile_many([document], check_job(setting, catalog, _whole), siblings=siblings, processes=1):
        if isinstance(outcome, Broken):
            raise outcome.error
        return Analysis(named.path, data, outcome.value)
    raise AssertionError("a document has one outcome")


def placeless(named: Named) -> bool:
    return named.path == STDIN or is_shell_pipe(named.file)


def _whole(compilation: Compilation) -> Compilation:
    return compilation
