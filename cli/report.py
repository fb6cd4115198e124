"""What is known of a finished compile, in the form that was asked for.

Made in the process that compiled, printed by ours.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from cli.arguments import Format
from cli.discovery import STDIN
from cli.documents import STDIN_PATH
from cli.reading import read_file
from pipeline.compilation import Compilation
from pipeline.diagnostics.lang import Lang
from pipeline.document.source import Source, read_source
from pipeline.incremental.record import Status

if TYPE_CHECKING:
    from cli.publishing import Publisher
    from pipeline.diagnostics.bind import Diagnostic
    from pipeline.diagnostics.sarif import Checked


class Report(NamedTuple):
    """`text`: what to print, without separators; "" where the format has nothing to say. `output`: the folder written.

    `checked`: for the one SARIF log of all documents. Only where somebody watches: `ran`, whether anything was not
    taken from an earlier compile; `calls`, whether the document calls others; `found`, what was found in it.
    """

    path: str
    sha256: str
    status: Status
    errors: int
    warnings: int
    output: str | None
    text: str
    checked: Checked | None = None
    ran: bool = True
    calls: bool = False
    found: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class Reporter:
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

    def __call__(self, compilation: Compilation) -> Report:
        """Raises StoreError."""
        found = self._found(compilation)
        path = STDIN if compilation.path == STDIN_PATH else compilation.path
        written = self.publisher is not None and compilation.status == "succeeded"
        output = self.publisher.folder(compilation.path).as_posix() if self.publisher is not None and written else None
        errors = sum(diagnostic.severity == "error" for diagnostic in found)
        report = Report(
            path,
            compilation.sha256,
            compilation.status,
            errors,
            len(found) - errors,
            output,
            self._text(compilation, path, found, output),
            self._checked(compilation, path, found),
        )
        return self._watched(report, compilation, found) if self.watched else report

    def _watched(self, report: Report, compilation: Compilation, found: Sequence[Diagnostic]) -> Report:
        parsed = compilation.parsed
        calls = parsed is not None and any(phase.calls for phase in parsed.phases)
        ran = any(stage.outcome == "ran" for stage in compilation.stages)
        return report._replace(ran=ran, calls=calls, found=tuple(found))

    # Most documents have no diagnostic, and each form's renderer is loaded only where it has something to render.

    def _found(self, compilation: Compilation) -> list[Diagnostic]:
        findings = compilation.findings
        if not findings:
            return []
        from pipeline.diagnostics.bind import bind  # noqa: PLC0415

        return bind(findings, compilation.positions, self.lang)

    def _text(self, compilation: Compilation, path: str, found: Sequence[Diagnostic], output: str | None) -> str:
        match self.format:
            case "json" | "jsonl":
                return self._json(compilation, path, found, output)
            case "github" if found:
                from pipeline.diagnostics.github import render_github  # noqa: PLC0415

                return render_github(found, path)
            case "text" if found:
                from pipeline.diagnostics.text import render_text  # noqa: PLC0415

                lines = self._lines(compilation)
                return render_text(found, path, lines, lang=self.lang, color=self.color, width=self.width)
            case _:
                return ""

    def _json(self, compilation: Compilation, path: str, found: Sequence[Diagnostic], output: str | None) -> str:
        from pipeline.diagnostics.json import diagnostic_dict  # noqa: PLC0415
        from pipeline.result import result  # noqa: PLC0415

        value = result(compilation, [diagnostic_dict(diagnostic) for diagnostic in found], output)
        value["document"]["path"] = path
        if self.format == "json":
            return json.dumps(value, ensure_ascii=False, indent=2)
        return f"{json.dumps(value, ensure_ascii=False, separators=(',', ':'))}\n"

    def _checked(self, compilation: Compilation, path: str, found: Sequence[Diagnostic]) -> Checked | None:
        if self.format != "sarif":
            return None
        from pipeline.diagnostics.sarif import Checked  # noqa: PLC0415

        return Checked(path, self._lines(compilation) if found else [], found)

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
