"""`aop runs show|resume|cancel`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from aop_runtime.plane.questions import Answer
from aop_runtime.runs.folder import RunFolder
from aop_runtime.session import cancel, resume, shown_run, terminal_console
from cli.arguments import DEFAULT_RUNS, read_path
from cli.commands.run import read_limits
from cli.exits import OK
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang


def folder_of(run: str, runs: str | None) -> RunFolder:
    """Raises RunFault."""
    return RunFolder(Path(runs or DEFAULT_RUNS), run)


def run_show(run: str, runs: str | None, lang: Lang, *, jsonl: bool) -> int:
    """Raises RunFault, JournalFault."""
    shown_run(folder_of(run, runs), terminal_console("jsonl" if jsonl else "text", lang))
    return OK


def run_cancel(run: str, runs: str | None) -> int:
    """Raises RunFault, JournalFault."""
    cancel(folder_of(run, runs))
    return OK


def run_resume(
    run: str,
    runs: str | None,
    lang: Lang,
    *,
    approve: Sequence[str],
    deny: Sequence[str],
    answer: Sequence[str],
    allow: Sequence[str],
    model: str | None,
    script: str | None,
    limits: Sequence[str],
    jsonl: bool,
) -> int:
    """Raises Trouble, and what `cli.main` puts into words."""
    answers = {identity: Answer(verdict="yes", by="command line") for identity in approve}
    answers |= {identity: Answer(verdict="no", by="command line") for identity in deny}
    for word in answer:
        identity, found, text = word.partition("=")
        if not found:
            raise Trouble("usage.answer", word=word)
        answers[identity] = Answer(verdict="text", text=text, by="command line")
    console = terminal_console("jsonl" if jsonl else "text", lang)
    return resume(
        folder_of(run, runs),
        answers,
        console,
        allow,
        model=model,
        script=read_path("--script", script),
        limits=read_limits(limits),
    )
