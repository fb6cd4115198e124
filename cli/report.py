"""What is known of a finished compile, in the form that was asked for.

Made in the process that compiled, printed by ours.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from cli.arguments import Format
from cli.discovery import STDIN
from cli.documents import STDIN_PATH
from cli.reading import read_file
from pipeline.compilation import Compilation
from pipeline.diagnostics.lang import Lang
from pipeline.document.source import Source, read_source
from pipeline.garbage import uncollected
from pipeline.incremental.record import Status

if TYPE_CHECKING:
    from cli.publishing import Publisher
    from pipeline.diagnostics.bind import Diagnostic
    from pipeline.diagnostics.sarif import Checked


class Pieces:
    """Text in pieces that are made each time they are asked for: of a million findings it takes a gigabyte. Another
    process gets the pieces themselves."""

    def __init__(self, make: Callable[[], Iterable[str]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[str]:
        with uncollected():
            yield from joined(self._make())

    def __reduce__(self) -> tuple[type[tuple[str, ...]], tuple[tuple[str, ...]]]:
        return tuple, (tuple(self),)


class Report(NamedTuple):
    """`text`: what to print, in pieces, without separators; () where the format has nothing to say. Of very many
    findings it is put together when it is printed.
    `output`: the folder written.

    `checked`: for the one SARIF log of all documents. Only where somebody watches: `ran`, whether anything was not
    taken from an earlier compile; `calls`, whether the document calls others; `found`, what was found in it.
    """

    path: str
    sha256: str
    status: Status
    errors: int
    warnings: int
    output: str | None
    text: tuple[str, ...] | Pieces
    checked: Checked | None = None
    ran: bool = True
    calls: bool = False
    found: tuple[Diagnostic, ...] = ()


class Reporter(NamedTuple):
    """Makes reports. `width`: of the terminal. `stdin`: the bytes of standard input, which cannot be read again.

    `publisher` None: nothing is written. `watched`: somebody will want to know what is news.
    """

    format: Format
    lang: Lang
    color: bool
    width: int
    publisher: Publisher | None
    stdin: bytes = b""
    watched: bool = False

    def report(self, compilation: Compilation) -> Report:
        """Raises StoreError."""
        findings = compilation.findings
        path = STDIN if compilation.path == STDIN_PATH else compilation.path
        written = self.publisher is not None and compilation.status == "succeeded"
        output = self.publisher.folder(compilation.path) if self.publisher is not None and written else None
        errors = sum([finding.fails for finding in findings])
        with uncollected():  # diagnostics make no cycles
            text = self._pieces(compilation, path, output)
            checked = self._checked(compilation, path)
        counts = errors, len(findings) - errors
        report = Report(path, compilation.sha256, compilation.status, *counts, output, text, checked)
        return self._watched(report, compilation) if self.watched else report

    def _pieces(self, compilation: Compilation, path: str, output: str | None) -> tuple[str, ...] | Pieces:
        if self.format == "sarif":
            return ()
        # What was recalled is read from a store, which may be closed by then.
        if len(compilation.findings) > _MANY and not compilation.recalled:
            return Pieces(partial(self._text, compilation, path, output))
        return tuple(joined(self._text(compilation, path, output)))

    def _watched(self, report: Report, compilation: Compilation) -> Report:
        parsed = compilation.parsed
        calls = parsed is not None and any(phase.calls for phase in parsed.phases)
        ran = any(stage.outcome == "ran" for stage in compilation.stages)
        return report._replace(ran=ran, calls=calls, found=tuple(self._found(compilation)))

    # Most documents have no diagnostic, and each form's renderer is loaded only where it has something to render.

    def _found(self, compilation: Compilation) -> Iterator[Diagnostic]:
        findings = compilation.findings
        if not findings:
            return iter(())
        from pipeline.diagnostics.bind import binding  # noqa: PLC0415 - see above

        return binding(findings, compilation.positions, self.lang)

    def _text(self, compilation: Compilation, path: str, output: str | None) -> Iterable[str]:
        match self.format:
            case "json" | "jsonl":
                return self._json(compilation, path, output)
            case "github" if compilation.findings:
                from pipeline.diagnostics.github import commands  # noqa: PLC0415 - see `_found`

                return (f"{command}\n" for command in commands(self._found(compilation), path))
            case "text" if compilation.findings:
                from pipeline.diagnostics.text import text_pieces  # noqa: PLC0415 - see `_found`

                found, lines = self._found(compilation), self._lines(compilation)
                return text_pieces(found, path, lines, lang=self.lang, color=self.color, width=self.width)
            case _:
                return ()

    def _json(self, compilation: Compilation, path: str, output: str | None) -> Iterator[str]:
        from cli.json_output import result_pieces  # noqa: PLC0415 - see `_found`
        from pipeline.result import phase_dicts, result  # noqa: PLC0415 - see `_found`

        phases = phase_dicts(compilation)
        value = result(compilation, [], output, [])
        value["document"]["path"] = path
        yield from result_pieces(value, self._found(compilation), phases, indented=self.format == "json")
        if self.format == "jsonl":
            yield "\n"

    def _checked(self, compilation: Compilation, path: str) -> Checked | None:
        if self.format != "sarif":
            return None
        from pipeline.diagnostics.sarif import Checked  # noqa: PLC0415 - see `_found`

        return Checked(path, self._lines(compilation) if compilation.findings else [], list(self._found(compilation)))

    def _lines(self, compilation: Compilation) -> list[str]:
        """The document's lines; none if it is unreadable, or another one by now."""
        try:
            data = self.stdin if compilation.path == STDIN_PATH else read_file(compilation.path)
        except OSError:
            return []
        if hashlib.sha256(data).hexdigest() != compilation.sha256:
            return []
        source = read_source(data, len(data))
        return source.lines if isinstance(source, Source) else []


_MANY: Final = 10_000
"""Findings."""

_PIECE: Final = 1 << 16


def joined(parts: Iterable[str]) -> Iterator[str]:
    """The parts in pieces of a size that is worth handing on and writing."""
    gathered: list[str] = []
    size = 0
    for part in parts:
        gathered.append(part)
        size += len(part)
        if size >= _PIECE:
            yield "".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield "".join(gathered)
