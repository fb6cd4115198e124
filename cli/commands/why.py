"""`aop why DOCUMENT`: which stages and phases the next compile would run, and why (R3)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from cli import streams
from cli.analysis import single
from cli.arguments import DEFAULT_OUT, DEFAULT_STORE, Reuse, Setting
from cli.batch import plan_one
from cli.batch_worker import Job
from cli.discovery import STDIN
from cli.documents import document_of, open_catalog, siblings_of
from cli.exits import OK
from cli.json_output import print_json
from cli.messages import say
from cli.reading import read_stdin
from cli.stores import existing_store
from pipeline.compilation import Compilation
from pipeline.compiler import Options
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from pipeline.generators.registry import default_registry
from pipeline.incremental.report import StageReport


def run(document: str, setting: Setting, reuse: Reuse, store: Path | None, *, json: bool) -> int:
    """Raises Trouble, CatalogError, StoreError, OSError."""
    folder = store or Path(DEFAULT_STORE)
    job = Job(
        open_store=partial(existing_store, folder, setting.lang),
        catalog=open_catalog(setting, locked=True),
        generator=default_registry().find(),
        options=Options(reuse=reuse, max_bytes=setting.max_bytes),
        render=_nothing,
    )
    named = single(document)
    stdin = read_stdin() if named.path == STDIN else b""
    stages = plan_one(document_of(named, stdin), job, siblings=siblings_of(named, Path(DEFAULT_OUT)))
    if json:
        print_json({"document": named.path, "stages": [stage._asdict() for stage in stages]})
    else:
        streams.emit("".join(f"{line}\n" for line in _lines(named.path, stages, setting.lang)))
    return OK


def _nothing(compilation: Compilation) -> None:
    """A plan makes no compile that anything could be made of."""


def _lines(path: str, stages: Sequence[StageReport], lang: Lang) -> list[str]:
    runs = sum(stage.outcome == "ran" for stage in stages)
    title = say("why.nothing", lang, path=path) if not runs else say("why.some", lang, path=path, count=runs)
    return [title, *(f"  {_line(stage, lang)}" for stage in stages)]


def _line(report: StageReport, lang: Lang) -> str:
    stage = say(f"why.stage-{report.stage}", lang)
    if report.phase is not None:
        stage = say("why.of-phase", lang, stage=stage, number=report.phase)
    # Skipped stages have reasons of their own kind: not why something runs, but why there is nothing to do.
    key = f"why.skipped-{report.reason}" if report.outcome == "skipped" else f"why.reason-{report.reason}"
    outcome = say(f"why.{report.outcome}", lang)
    return visible(f"{stage}: {outcome} ({report.reason}) {say(key, lang)}")
