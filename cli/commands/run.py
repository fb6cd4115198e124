"""`aop run`: compile a document if it is one, and drive a procedure from its first phase to its result."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from hashlib import sha256
from pathlib import Path
from typing import Final, NamedTuple

from aop_runtime.engine.dry_run import shown
from aop_runtime.engine.library import by_document, compiled_folder
from aop_runtime.loading import MODULE, load_procedure
from aop_runtime.options import RunOptions, folder_of, permissions_of, servers_of, start_of
from cli import streams
from cli.arguments import Words, read_options
from cli.commands.compile import run as compile_documents
from cli.exits import FAILED, OK
from cli.extras import extra
from cli.reading import read_file
from cli.trouble import Trouble

BUILT: Final = Path(".aop/built")


class Target(NamedTuple):
    """What is run: a document, a compiled module, or its folder; and what documents are compiled with."""

    path: str
    catalog: Sequence[str] = ()
    org: Sequence[str] = ()


def run(target: Target, options: RunOptions) -> int:
    """Raises Trouble, and what `cli.main` puts into words."""
    permissions, servers = permissions_of(options), servers_of(options)
    # The servers that a run reaches are tools of the document that is run, whether they were named or found.
    found = _compiled(target, options._replace(mcp_config=None if servers is None else str(servers)))
    if found is None:
        return FAILED
    compiled, library = found
    if options.dry_run:
        text = shown(compiled, permissions, options.lang, as_json=options.format == "jsonl")
        streams.emit(f"{text}\n")
        return OK
    # The engine brings pydantic-ai and mcp: a dry run, and every other command, must not pay for them.
    with extra("run"):
        from aop_runtime.session import start, terminal_console  # noqa: PLC0415 - see above

    given = start_of(options, compiled, library)
    return start(given, terminal_console(options.format, options.lang), options.allow)


def _compiled(target: Target, options: RunOptions) -> tuple[Path, Path] | None:
    """The folder of the compiled target and the one of all that it may call. None: it has errors, which are shown."""
    path = Path(target.path)
    if path.is_dir() and (path / MODULE).is_file():
        return path, path.resolve().parent
    if path.suffix == ".py":
        compiled = folder_of(path)
        return compiled, compiled.parent
    if path.is_dir():
        raise Trouble("discover.not-a-document", path=target.path)
    if not _compile(target, options, target.path):
        return None
    compiled = by_document(BUILT, sha256(read_file(target.path)).hexdigest())
    for name in _missing(compiled):
        # What it calls lies in its folder; documents with errors there are no matter to it.
        _compile(target, options, str(path.parent), quiet=True)
        compiled_folder(BUILT, name)
    return compiled, BUILT


def _missing(compiled: Path) -> list[str]:
    """What a procedure calls, of which nothing up to date can be known: it is compiled again, which costs little."""
    return [phase.calls for phase in load_procedure(compiled / MODULE).phases if phase.calls is not None]


def _compile(target: Target, options: RunOptions, documents: str, *, quiet: bool = False) -> bool:
    given = Words(
        documents=(documents,),
        out=str(BUILT),
        catalog=tuple(target.catalog),
        org=tuple(target.org),
        mcp_config=options.mcp_config,
        lang=options.lang,
    )
    said = io.StringIO()
    with redirect_stdout(said):
        status = compile_documents(read_options(given, check=False))
    if status != OK and not quiet:
        sys.stderr.write(said.getvalue())
    return status == OK
