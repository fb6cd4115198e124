"""A finished compile as the one blob that the service keeps: files, O2's result, diagnostics in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final, cast

from pipeline.compilation import Compilation
from pipeline.diagnostics.bind import binding
from pipeline.diagnostics.json import diagnostic_dict
from pipeline.diagnostics.lang import Lang
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.output import files_of
from pipeline.result import ResultDict, result
from workers.records import Output

MOST_DIAGNOSTICS: Final = 10_000
"""So many are kept of a document, the first ones: a megabyte of text may have half a million, which would take
gigabytes in two languages. The counts of errors and warnings are of all."""

LANGS: Final[tuple[Lang, ...]] = ("ja", "en")


def output_of(compilation: Compilation, generator: GeneratorIdentity) -> Output:
    """Byte for byte the files of `aop compile`. Raises StoreError."""
    value = cast("dict[str, object]", result(compilation, [], None))
    return Output(
        files={name: data.decode() for name, data in _files(compilation, generator).items()},
        result=value,
        diagnostics={lang: _diagnostics(compilation, lang) for lang in LANGS},
    )


def tools_of(output: Output) -> tuple[str, ...]:
    """What the procedure may use, of all phases, sorted."""
    phases = cast("ResultDict", output.result)["phases"]
    return tuple(sorted({tool["tool"] for phase in phases for tool in phase["tools"]}))


def _files(compilation: Compilation, generator: GeneratorIdentity) -> Mapping[str, bytes]:
    parsed, resolved, module = compilation.parsed, compilation.resolved, compilation.module
    if compilation.status == "failed" or parsed is None or resolved is None or module is None:
        return {}
    return files_of(compilation.sha256, parsed, resolved, compilation.positions, module, generator, compilation.carried)


def _diagnostics(compilation: Compilation, lang: Lang) -> list[dict[str, object]]:
    found = binding(compilation.findings, compilation.positions, lang)
    return [cast("dict[str, object]", diagnostic_dict(entry)) for entry in islice(found, MOST_DIAGNOSTICS)]
