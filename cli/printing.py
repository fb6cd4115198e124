"""Results to standard output as they come, notes to standard error, and the exit status that all of it amounts to."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Self

from cli import streams
from cli.arguments import Format, Options
from cli.batch_worker import Broken, Compiled
from cli.exits import FAILED, OK, TROUBLE
from cli.messages import say
from cli.progress import Bar
from cli.report import Report, joined
from cli.trouble import sentence
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible


class Printer:
    """One run's output. `several`: whether `json` prints an array. `summary`: whether `text` ends with one.

    Use as a context manager: `json` and `sarif` need their end.
    """

    def __init__(self, options: Options, several: bool, bar: Bar, *, summary: bool = True) -> None:
        self._options = options
        self._format: Format = options.format
        self._lang: Lang = options.setting.lang
        self._several = several
        self._bar = bar
        self._summarized = summary
        self._reports: list[Report] = []
        self._broken = 0
        self._printed = 0

    @property
    def status(self) -> int:
        """The exit status so far (section 9)."""
        if self._broken:
            return TROUBLE
        failed = any(report.errors for report in self._reports)
        warned = self._options.strict and any(report.warnings for report in self._reports)
        return FAILED if failed or warned else OK

    def __enter__(self) -> Self:
        if self._format == "json" and self._several:
            streams.emit("[")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()

    def add(self, outcome: Compiled[Report] | Broken) -> None:
        """Print one document's. Raises OutputClosed, OutputFailed."""
        if isinstance(outcome, Broken):
            self.complain(broken_sentence(outcome, self._lang))
            return
        report = outcome.value
        # Only a SARIF log needs the whole of them in the end.
        self._reports.append(report if self._format == "sarif" else report._replace(text=()))
        if report.text:
            self._bar.hide()
            streams.emit(self._separator())
            for piece in report.text:
                streams.emit(piece)
            streams.emit("", flush=True)
            self._printed += 1

    def complain(self, text: str) -> None:
        """Say what could not be read or written."""
        self._broken += 1
        self._bar.hide()
        streams.note(f"aop: {text}")

    def _separator(self) -> str:
        """What stands before the next document's text."""
        if self._format == "text":
            return "\n" if self._printed else ""
        if self._format == "json" and self._several:
            return ",\n" if self._printed else "\n"
        return ""

    def _finish(self) -> None:
        self._bar.hide()
        match self._format:
            case "json":
                streams.emit(("\n]\n" if self._printed else "]\n") if self._several else "\n" if self._printed else "")
            case "sarif":
                for piece in joined(self._sarif()):
                    streams.emit(piece)
            case "text" if self._summarized:
                streams.emit(f"\n{self._summary()}\n" if self._printed else f"{self._summary()}\n")
            case _:
                pass

    def _sarif(self) -> Iterator[str]:
        from importlib.metadata import version  # noqa: PLC0415 - both are slow to load, and for this format only

        from pipeline.diagnostics.sarif import sarif_pieces  # noqa: PLC0415 - see above

        checked = [report.checked for report in self._reports if report.checked is not None]
        return sarif_pieces(checked, lang=self._lang, version=version("aop"))

    def _summary(self) -> str:
        failed = sum(report.status == "failed" for report in self._reports)
        arguments = {
            "succeeded": len(self._reports) - failed,
            "failed": failed,
            "errors": sum(report.errors for report in self._reports),
            "warnings": sum(report.warnings for report in self._reports),
            "broken": self._broken,
        }
        line = say("compile.summary-broken" if self._broken else "compile.summary", self._lang, **arguments)
        written = [report.output for report in self._reports if report.output is not None]
        if not written:
            return line
        where = written[0] if len(written) == 1 else self._options.out.as_posix()
        return f"{line} {say('compile.written', self._lang, folder=where)}"


def broken_sentence(broken: Broken, lang: Lang) -> str:
    """What kept the document from being compiled; it names the document or the file."""
    words = sentence(broken.error, lang)
    if words is None:
        return say("compile.worker-died", lang, path=broken.path)
    named = isinstance(broken.error, OSError) and broken.error.filename is not None
    return words if named or visible(broken.path) in words else f"{visible(broken.path)}: {words}"
