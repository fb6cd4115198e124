"""`aop init [DIR]`: a first procedure to start from, explained by its comments."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from cli import streams
from cli.exits import OK
from cli.messages import say
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang

NAME: Final = "first-procedure.md"

_TEMPLATES: Final = Path(__file__).parents[1] / "templates"


def run(folder: Path, lang: Lang) -> int:
    """Raises Trouble where the file exists already; OSError."""
    text = (_TEMPLATES / f"first-procedure.{lang}.md").read_bytes()
    path = folder / NAME
    folder.mkdir(parents=True, exist_ok=True)
    _write_new(path, text)
    streams.emit(f"{path.as_posix()}\n")
    streams.note(say("init.written", lang, path=path.as_posix()))
    return OK


def _write_new(path: Path, data: bytes) -> None:
    """Never over something that is there, also if it appears meanwhile."""
    try:
        file = path.open("xb")
    except FileExistsError:
        raise Trouble("init.exists", path=path.as_posix()) from None
    try:
        with file:
            file.write(data)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from error
