"""`python -m catalog.lint FILE|-`: the same as `aop catalog lint`, without the command line's other parts."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from catalog.errors import CatalogError, Language
from catalog.lint.command import FORMATS, run
from catalog.lint.limits import MAX_BYTES
from catalog.reading import read_file, unreadable

_TROUBLE: Final = 2
_INTERRUPTED: Final = 130
_BROKEN_PIPE: Final = 141
"""As if SIGPIPE had ended it."""


def main(arguments: Sequence[str]) -> int:
    """Returns the exit status."""
    given = _parser().parse_args(arguments)
    lang: Language = "en" if given.lang == "en" else "ja"
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        outcome = run(_content(given.file), given.file, strict=given.strict, form=given.format, lang=lang)
    except CatalogError as error:
        sys.stderr.write(f"aop: {error.message(lang)}\n")
        return _TROUBLE
    try:
        sys.stdout.write(outcome.output)
        sys.stdout.flush()
    except BrokenPipeError:
        # Nobody reads on; what is still buffered must not be complained about at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    return outcome.status


def _content(name: str) -> bytes:
    """One byte more than is looked at tells that there is more. Raises CatalogError."""
    if name == "-" and sys.stdin is not None:
        return sys.stdin.buffer.read(MAX_BYTES + 1)
    try:
        return read_file(name, MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        raise unreadable(Path(name), error) from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m catalog.lint", description="ツールのスキーマを調べる。Lint tools.")
    parser.add_argument("file", metavar="FILE|-")
    parser.add_argument("--strict", action="store_true")
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--lang", choices=("ja", "en"), default=os.environ.get("AOP_LANG") or "ja")
    return parser


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
