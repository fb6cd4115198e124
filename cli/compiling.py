"""Options turned into compiles: catalog, store, project, output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cli import streams
from cli.arguments import Options
from cli.batch import Progress, compile_many, no_progress, no_siblings
from cli.batch_worker import Document, Job, Outcome
from cli.checking import NoGenerator
from cli.discovery import STDIN, Selection
from cli.documents import STDIN_PATH, document_of, open_catalog, siblings_of
from cli.reading import read_stdin
from cli.report import Report, Reporter
from pipeline.compiler import Options as CompilerOptions
from pipeline.generators.protocol import Generator as CodeGenerator
from pipeline.stores.nothing import NoStore
from pipeline.stores.protocol import Store

if TYPE_CHECKING:
    from cli.publishing import Publisher


class Compiling:
    """Compiles what a command line selects, as often as it is asked to."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._generator = _generator(options)
        self._resources = ExitStack()
        self._open_store = self._store()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._resources.close()

    def run(self, selection: Selection, progress: Progress = no_progress) -> Generator[Outcome[Report], None, None]:
        """One outcome a document, in order. Closing it ends all work.

        Raises CatalogError, StoreError, and for standard input Trouble, OSError.
        """
        options = self._options
        stdin = read_stdin() if any(named.path == STDIN for named in selection.documents) else b""
        documents = [document_of(named, stdin) for named in selection.documents]
        publisher = None if options.check else self._publisher(selection, stdin)
        job = Job(
            open_store=self._open_store,
            catalog=open_catalog(options.setting, locked=True),
            generator=self._generator,
            options=CompilerOptions(reuse=options.reuse, max_bytes=options.setting.max_bytes, check=options.check),
            render=self._reporter(publisher, stdin).report,
            publish=publisher,
        )
        siblings: Callable[[], Iterable[Document]] = no_siblings
        if len(documents) == 1 and not selection.several:
            siblings = siblings_of(selection.documents[0], options.out)
        yield from compile_many(documents, job, siblings=siblings, processes=options.jobs, progress=progress)

    def _reporter(self, publisher: Publisher | None, stdin: bytes) -> Reporter:
        options = self._options
        return Reporter(
            format=options.format,
            lang=options.setting.lang,
            color=options.format == "text" and streams.colored(sys.stdout, options.color),
            width=streams.width(sys.stdout),
            publisher=publisher,
            stdin=stdin,
            watched=options.watch,
        )

    def _publisher(self, selection: Selection, stdin: bytes) -> Publisher:
        # Loaded here because `aop check` writes nothing.
        from catalog.writing import sweep  # noqa: PLC0415 - see above
        from cli.publishing import Publisher  # noqa: PLC0415 - see above
        from pipeline.folders import folders  # noqa: PLC0415 - see above

        sweep(self._options.out)
        # A file's folder is called after the file, that of standard input after what it holds.
        named = [(path, self._name(stdin) if path == STDIN else "") for path, _ in selection.documents]
        chosen = folders(named)
        if STDIN in chosen:
            chosen[STDIN_PATH] = chosen.pop(STDIN)
        return Publisher(self._options.out, chosen, self._generator.identity)

    def _name(self, data: bytes) -> str:
        from pipeline.stages.parse import parse  # noqa: PLC0415 - only for standard input

        parsed = parse(data, STDIN_PATH, self._options.setting.max_bytes).artifact
        return STDIN_PATH if parsed is None else parsed.name

    def _store(self) -> Callable[[], Store]:
        options = self._options
        if options.check and not options.watch:
            return NoStore
        from cli.stores import TellingStore  # noqa: PLC0415 - brings SQLite, which `aop check` does without

        if options.check:
            from tempfile import TemporaryDirectory  # noqa: PLC0415 - as above

            # A check leaves nothing behind, and yet the next round must know what this one found.
            scratch = self._resources.enter_context(TemporaryDirectory(prefix="aop-"))
            return partial(TellingStore, Path(scratch), options.setting.lang)
        return partial(TellingStore, options.store, options.setting.lang)


def _generator(options: Options) -> CodeGenerator:
    if options.check:
        return NoGenerator()
    from pipeline.generators.registry import default_registry  # noqa: PLC0415 - `aop check` does without

    return default_registry().find()
