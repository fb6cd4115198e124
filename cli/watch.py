"""`--watch`: compile, then again whenever something that matters was saved, renamed, deleted or made.

Every round is a whole compile through the store, which makes it cheap: what did not change, nor depends on what did, is
answered from its record. So nothing here has to know what depends on what; only what is news gets printed. No fault
ends it: a broken catalog is reported, and the next save is waited for.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NoReturn, TypeAlias

from cli import streams
from cli.arguments import Options
from cli.batch_worker import Broken, Compiled
from cli.compiling import Compiling
from cli.discovery import Named, Selection, Unusable, discover, folder_documents, is_pattern, pattern_base
from cli.documents import settings_files
from cli.messages import say
from cli.printing import Printer, broken_sentence
from cli.progress import NoBar
from cli.report import Report
from cli.trouble import SYSTEM_FAULTS, sentence
from cli.watching import Root, Snapshot, Watcher, changed, snapshot

_NAMED_AT_MOST: Final = 5
"""Changed files that are named in a line."""

_Fact: TypeAlias = tuple[object, ...]
"""What was printed of a document last."""


def watch(options: Options, compiling: Compiling) -> NoReturn:
    """Until it is interrupted. Raises KeyboardInterrupt, OutputClosed, OutputFailed."""
    _Watch(options, compiling).run()


class _Watch:
    def __init__(self, options: Options, compiling: Compiling) -> None:
        self._options = options
        self._compiling = compiling
        self._lang = options.setting.lang
        self._printed: dict[str, _Fact] = {}
        self._complained: list[str] = []
        self._calls = False

    def run(self) -> NoReturn:
        seen = self._look()
        self._round(first=True)
        streams.note(say("watch.waiting", self._lang))
        with Watcher((self._options.out, self._options.store)) as watcher:
            while True:
                watcher.listen(self._roots())
                now = self._look()
                paths = changed(seen, now)
                if paths:
                    seen = now
                    watcher.rest()
                    self._announce(paths)
                    self._round(first=False)
                else:
                    watcher.wait()

    # ----------------------------------------------------------------------------------------- what is looked at

    def _roots(self) -> Iterator[Root]:
        for name in self._options.documents:
            if Path(name).is_dir():
                yield Root(name, recursive=True)
            elif is_pattern(name):
                yield Root(pattern_base(name), recursive=True)
            else:
                # What is not there yet has a folder, too; the folder of a document that calls is its project.
                yield Root(str(Path(name).parent), recursive=self._calls)
        for file in self._settings_files():
            yield Root(str(Path(file).parent), recursive=False)

    def _settings_files(self) -> list[str]:
        return settings_files(self._options.setting)

    def _look(self) -> Snapshot:
        named = [document for name in self._options.documents for document in self._documents(name)]
        if self._calls and len(named) == 1:
            named += folder_documents(str(Path(named[0].file).parent), self._options.out)
        return snapshot([*(document.file for document in named), *self._settings_files()])

    def _documents(self, name: str) -> tuple[Named, ...]:
        with suppress(Unusable):
            return discover([name], self._options.out).documents
        return ()

    def _selection(self) -> Selection | None:
        """What there is of what was named; what is missing is said, but each time only once."""
        names: list[str] = []
        missing: list[str] = []
        for name in self._options.documents:
            try:
                discover([name], self._options.out)
                names.append(name)
            except Unusable as unusable:
                missing += [sentence(fault, self._lang) or str(fault) for fault in unusable.faults]
        for text in missing:
            if text not in self._complained:
                streams.note(f"aop: {text}")
        self._complained = missing
        return discover(names, self._options.out) if names else None

    # ----------------------------------------------------------------------------------------------- a round

    def _announce(self, paths: list[str]) -> None:
        shown = ", ".join(os.path.normpath(path) for path in paths[:_NAMED_AT_MOST])
        clock = time.strftime("%H:%M:%S")
        more = len(paths) - _NAMED_AT_MOST
        if more > 0:
            streams.note(say("watch.changed-more", self._lang, time=clock, paths=shown, more=more))
        else:
            streams.note(say("watch.changed", self._lang, time=clock, paths=shown))

    def _round(self, *, first: bool) -> None:
        try:
            selection = self._selection()
            if selection is None:
                self._forget(set())
                return
            self._calls = False
            printing = Printer(self._options, selection.several, NoBar(), summary=first)
            with printing as printer, closing(self._compiling.run(selection)) as outcomes:
                for outcome in outcomes:
                    self._take(outcome, printer, first=first)
            self._forget({document.path for document in selection.documents})
        except SYSTEM_FAULTS as fault:
            streams.note(f"aop: {sentence(fault, self._lang)}")

    def _take(self, outcome: Compiled[Report] | Broken, printer: Printer, *, first: bool) -> None:
        if isinstance(outcome, Broken):
            fact: _Fact = (broken_sentence(outcome, self._lang),)
            news = fact != self._printed.get(outcome.path)
        else:
            report = outcome.value
            self._calls = self._calls or report.calls
            fact = (report.sha256, report.status, report.found)
            news = report.ran or fact != self._printed.get(outcome.path)
        if news:
            self._printed[outcome.path] = fact
            printer.add(outcome)
            if not first and isinstance(outcome, Compiled):
                streams.note(self._verdict(outcome.value))

    def _verdict(self, report: Report) -> str:
        key = f"watch.{report.status}"
        return say(key, self._lang, path=report.path, errors=report.errors, warnings=report.warnings)

    def _forget(self, present: set[str]) -> None:
        for path in [path for path in self._printed if path not in present]:
            del self._printed[path]
            streams.note(say("watch.gone", self._lang, path=path))
