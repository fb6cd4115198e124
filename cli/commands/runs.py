"""`aop runs show|resume|cancel`."""

from __future__ import annotations

from collections.abc import Sequence

from aop_runtime.engine.run import request_cancel
from aop_runtime.options import RunOptions, runs_of
from aop_runtime.plane.questions import Answer
from aop_runtime.runs.folder import RunFolder
from aop_runtime.session import resume, shown_run, terminal_console
from cli.exits import OK
from cli.trouble import Trouble
from pipeline.diagnostics.lang import Lang


def folder_of(run: str, runs: str | None) -> RunFolder:
    """Raises RunFault."""
    return RunFolder(runs_of(runs), run)


def run_show(run: str, runs: str | None, lang: Lang, *, jsonl: bool) -> int:
    """Raises RunFault, JournalFault."""
    shown_run(folder_of(run, runs), terminal_console("jsonl" if jsonl else "text", lang))
    return OK


def run_cancel(run: str, runs: str | None) -> int:
    """Raises RunFault, JournalFault."""
    request_cancel(folder_of(run, runs))
    return OK


def run_resume(
    run: str, options: RunOptions, *, approve: Sequence[str] = (), deny: Sequence[str] = (), answer: Sequence[str] = ()
) -> int:
    """Raises Trouble, and what `cli.main` puts into words."""
    answers = {identity: Answer(verdict="yes", by="aop runs resume") for identity in approve}
    answers |= {identity: Answer(verdict="no", by="aop runs resume") for identity in deny}
    for word in answer:
        identity, found, text = word.partition("=")
        if not found:
            raise Trouble("usage.answer", word=word)
        answers[identity] = Answer(verdict="text", text=text, by="aop runs resume")
    return resume(run, options, answers, terminal_console(options.format, options.lang))
