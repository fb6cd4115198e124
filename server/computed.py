"""What takes as much of a processor and of memory as a text's author likes: done in child processes
(`server.computing`), which know nothing of Redis, the store or tokens. What they answer is masked by who asked.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import resource
import signal
import sys
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeVar, cast

from catalog.snapshot import Catalog
from pipeline.compilation import Compilation
from pipeline.compiler import Compiler, Input, Options
from pipeline.diagnostics.bind import bind
from pipeline.diagnostics.json import diagnostic_dict
from pipeline.diagnostics.lang import Lang
from pipeline.generators.registry import default_registry
from pipeline.project import LateProject, Project, ProjectDocument
from pipeline.result import result
from pipeline.review.compare import compare
from pipeline.review.to_json import comparison_dict
from pipeline.review.version import version_of
from pipeline.stores.nothing import NoStore

MOST_SHOWN: Final = 500
"""Errors, and as many warnings and phases, of one answer to a model."""
_OF_PHASES: Final = ("number", "title", "line", "kind", "calls", "tools")

Json = dict[str, object]
T = TypeVar("T")
R_co = TypeVar("R_co", covariant=True)


class ProjectNeeded(Exception):
    """The text calls other procedures: once more, with the project."""


@dataclass(frozen=True, slots=True)
class Written:
    """`data`: a text's bytes. `catalog`: pickled, the one that it is read with."""

    data: bytes
    catalog: bytes


@dataclass(frozen=True, slots=True)
class Bounds:
    """`max_bytes`: of a document. `seconds`: after which whoever asked has given up. `megabytes`: of data."""

    max_bytes: int
    seconds: float
    megabytes: int


class Work(Protocol[R_co]):
    def __call__(self, *, project: LateProject, max_bytes: int) -> R_co: ...


def begin(work: Work[T], project: bytes | None, bounds: Bounds) -> T:
    """In the child. `project`: a pickled tuple of ProjectDocument, None: not unless it is needed. Raises ProjectNeeded.

    Where memory is not enough the process ends at once: nothing can be done with what is left of it."""
    _bound(bounds)
    try:
        return work(project=LateProject(partial(_unpickled, project)), max_bytes=bounds.max_bytes)
    except MemoryError:
        os._exit(1)
    finally:
        signal.alarm(0)


_first = True


def _bound(bounds: Bounds) -> None:
    global _first  # noqa: PLW0603 - a process is bound once
    if _first:
        _first = False
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the server ends its children itself
        if sys.platform != "darwin":  # which has no limit that counts what is asked for
            _, hard = resource.getrlimit(resource.RLIMIT_DATA)
            resource.setrlimit(resource.RLIMIT_DATA, (bounds.megabytes << 20, hard))
    # Whoever is to end this process may have been killed: then it ends by itself.
    signal.alarm(math.ceil(bounds.seconds) + 5)


def _unpickled(project: bytes | None) -> Project:
    if project is None:
        raise ProjectNeeded
    return Project(cast("tuple[ProjectDocument, ...]", pickle.loads(project)))  # noqa: S301 - the parent's own


# ----------------------------------------------------------------------------------------------------------- works


def checked(
    document: str, text: Written, lang: Lang, *, project: LateProject, max_bytes: int
) -> tuple[Json, list[str]]:
    """`told` of a check, and which of the names in it stand in the text itself."""
    compilation = _compiled(document, text, project, Options(reuse="never", max_bytes=max_bytes, check=True))
    bound = bind(compilation.findings, compilation.positions, lang)
    found = told(cast("Json", result(compilation, [diagnostic_dict(entry) for entry in bound], None)))
    shown = text.data.decode("utf-8", "replace")
    names = {str(phase["calls"]) for phase in cast("list[Json]", found["phases"]) if phase["calls"] is not None}
    return found, sorted(name for name in names if name in shown)


def compared(
    document: str,
    old: Written,
    new: Written,
    sequences: tuple[int, int],
    lang: Lang,
    *,
    project: LateProject,
    max_bytes: int,
) -> bytes:
    """`aop diff --format json`, with the versions' sequences, as the bytes of JSON: there may be megabytes of it."""
    options = Options(max_bytes=max_bytes, check=True)
    versions = [version_of(document, _compiled(document, text, project, options), lang) for text in (old, new)]
    comparison = comparison_dict(compare(*versions))
    for sequence, side in zip(sequences, ("old", "new"), strict=True):
        comparison[side]["sequence"] = sequence
    return json.dumps(comparison, ensure_ascii=False, separators=(",", ":")).encode()


def _compiled(document: str, text: Written, project: LateProject, options: Options) -> Compilation:
    catalog = cast("Catalog", pickle.loads(text.catalog))  # noqa: S301 - the parent's own
    return Compiler(catalog, NoStore(), default_registry().find(), options).compile(Input(document, text.data), project)


def told(found: Json) -> Json:
    """O2 in the form that a model asks for: errors and warnings apart, the tools of each phase, no instructions. A text
    of a megabyte may have more of all than anybody reads: the first ones are shown, all are counted."""
    phases = cast("list[Json]", found["phases"])
    return {
        "status": found["status"],
        **listed(cast("list[Json]", found["diagnostics"])),
        "phases": [{key: phase[key] for key in _OF_PHASES} for phase in phases[:MOST_SHOWN]],
        "phase_count": len(phases),
    }


def listed(diagnostics: list[Json]) -> Json:
    errors = [entry for entry in diagnostics if entry["severity"] == "error"]
    warnings = [entry for entry in diagnostics if entry["severity"] != "error"]
    return {
        "errors": errors[:MOST_SHOWN],
        "warnings": warnings[:MOST_SHOWN],
        "error_count": len(errors),
        "warning_count": len(warnings),
    }
