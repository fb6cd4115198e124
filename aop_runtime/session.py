"""Starting, resuming and showing runs: what `aop run`, `aop runs` and `python procedure.py` have in common."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from aop_runtime.engine.people import Terminal, write_answer
from aop_runtime.engine.run import Outcome, pending, read_compiled, run
from aop_runtime.engine.setup import Kit, equip
from aop_runtime.options import Format, RunOptions, Start, path_of, read_limits, runs_of, utf_8
from aop_runtime.plane.questions import Answer, Person, Question
from aop_runtime.report import Reporter, short
from aop_runtime.runs.events import RunCancelled, RunFinished
from aop_runtime.runs.folder import Changes, Limits, Plan, RunFault, RunFolder, new_run_id
from aop_runtime.runs.record import read_record
from aop_runtime.terminal import Output, interactive
from aop_runtime.visible import visible

FINISHED: Final = 0
FAILED: Final = 1
WAITING: Final = 3
CANCELLED: Final = 4
INTERRUPTED: Final = 130


@dataclass(frozen=True, slots=True, kw_only=True)
class Console:
    """`write` takes lines; `ask` reads one from a person, None where there is nobody."""

    write: Callable[[str], None]
    ask: Callable[[str], Awaitable[str]] | None
    form: Format
    language: str

    def people(self) -> Sequence[Person]:
        return () if self.ask is None else (Terminal(self.ask, lambda line: self.write(visible(line)), self.language),)


_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "ja": {
        "answer": "答えるには",
        "result": "結果",
        "interrupted": "中断しました。続けるには",
        "again": "理由を取り除いてから続けるには",
        "input": "依頼",
    },
    "en": {
        "answer": "To answer",
        "result": "Result",
        "interrupted": "Interrupted. To go on",
        "again": "To go on when the reason is gone",
        "input": "Input",
    },
}


def words(language: str) -> Mapping[str, str]:
    return _WORDS["en" if language == "en" else "ja"]


def start(given: Start, console: Console, approved: Sequence[str] = ()) -> int:
    """Make a run and drive it. Returns the exit status. Raises Fault."""
    model = "script" if given.script is not None else given.model
    if not model:
        raise RunFault("run.no-model")
    procedure, _ = read_compiled(given.compiled)
    folder = RunFolder(given.runs, new_run_id())
    plan = Plan(
        run=folder.run,
        procedure=procedure.name,
        input=given.input,
        model=model,
        script=_absolute("--script", given.script),
        language=given.language,
        features=given.features,
        limits=given.limits,
        mcp_config=_absolute("--mcp-config", given.mcp_config),
        permissions=_absolute("--permissions", given.permissions),
        plugins=_absolute("--plugins", given.plugins),
        library=_absolute("--library", given.library),
    )
    kit = equip(plan, os.environ, console.people, approved)
    # A model that cannot be used is told of before there is anything to clean up.
    kit.models.of("")
    folder.create(plan, given.compiled, given.attachments)
    return _driven(folder, kit, console)


def _absolute(option: str, path: Path | None) -> str | None:
    """Raises RunFault."""
    return None if path is None else utf_8(option, str(path.absolute()))


def drive(
    folder: RunFolder,
    console: Console,
    approved: Sequence[str] = (),
    changes: Changes = Changes(),  # noqa: B008 - immutable
) -> int:
    """Drive a run from where it stands. Raises Fault."""
    record = read_record(folder.path)
    kit = equip(changes.over(record.changed(folder.plan())), os.environ, console.people, approved)
    if not isinstance(record.end, RunFinished | RunCancelled):
        kit.models.of("")
    return _driven(folder, kit, console, changes)


def _driven(
    folder: RunFolder,
    kit: Kit,
    console: Console,
    changes: Changes = Changes(),  # noqa: B008 - immutable
) -> int:
    reporter = Reporter(console.write, console.form, console.language)
    try:
        outcome = asyncio.run(_interruptible(run(folder, kit, reporter, changes=changes)))
    except (KeyboardInterrupt, asyncio.CancelledError):
        if console.form == "text":
            console.write(f"\n⏹ {words(console.language)['interrupted']}: aop runs resume {folder.run}")
        return INTERRUPTED
    result = kit.hide(folder)(outcome.result)
    return _told(folder, replace(outcome, result=str(result)), console)


async def _interruptible(work: Coroutine[object, object, Outcome]) -> Outcome:
    """SIGTERM ends it as Ctrl-C does: connections and processes are closed, and the run can be resumed."""
    task = asyncio.ensure_future(work)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def _told(folder: RunFolder, outcome: Outcome, console: Console) -> int:
    if console.form == "text":
        if outcome.status == "finished" and outcome.result:
            console.write(f"\n{words(console.language)['result']}:\n{_paragraph(outcome.result)}")
        elif outcome.status == "waiting":
            _tell_how_to_answer(folder, console)
        elif outcome.status == "failed":
            console.write(f"  {words(console.language)['again']}: aop runs resume {folder.run}")
    return {"finished": FINISHED, "waiting": WAITING, "failed": FAILED, "cancelled": CANCELLED}[outcome.status]


def _tell_how_to_answer(folder: RunFolder, console: Console) -> None:
    for _, question in pending(folder):
        how = answer_options(question)
        console.write(f"  {words(console.language)['answer']}: aop runs resume {folder.run} {how}")


def _paragraph(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))


def answer_options(question: Question) -> str:
    if question.kind == "question":
        return f"--answer {question.id}=…"
    return f"--approve {question.id} | --deny {question.id}"


def resume(run_id: str, options: RunOptions, answers: Mapping[str, Answer], console: Console) -> int:
    """Give the answers, by the ids of their questions, and drive the run on. Raises Fault.

    Model, script and limits hold in place of what it was started with, from now on; the other options do not count.
    """
    folder = RunFolder(runs_of(options.runs), run_id)
    folder.plan()
    script = path_of("--script", options.script)
    limits = read_limits(options.limit)
    if answers:
        # Not into the hands of a process that is at work on it, and may just be reading them.
        with folder.held():
            _answer(folder, answers)
    plan = read_record(folder.path).changed(folder.plan())
    changes = Changes(
        model="script" if script is not None else options.model and utf_8("--model", options.model),
        script=_absolute("--script", script),
        limits=None if not limits else Limits.model_validate({**plan.limits.model_dump(), **limits}),
    )
    return drive(folder, console, options.allow, changes)


def _answer(folder: RunFolder, answers: Mapping[str, Answer]) -> None:
    """All of them or none, unless the disk fails. Raises Fault."""
    asked = {question.id: (where, question) for where, question in pending(folder)}
    for identity, answer in answers.items():
        if identity not in asked:
            raise RunFault("run.no-question", run=folder.run, question=identity, known=", ".join(asked) or "-")
        utf_8("--answer", answer.text)
    for identity, answer in answers.items():
        where, question = asked[identity]
        write_answer(where.path, question, answer)


def shown_run(folder: RunFolder, console: Console) -> None:
    """All that happened, as it was shown when it did, and what it waits for. Raises Fault."""
    plan = folder.plan()
    reporter = Reporter(console.write, console.form, console.language)
    for event in read_record(folder.path).events:
        reporter(folder.run, event)
    if console.form == "text":
        _tell_how_to_answer(folder, console)
        if plan.input:
            console.write(f"  {words(console.language)['input']}: {visible(short(plan.input))}")


def terminal_console(form: Format, language: str) -> Console:
    """Standard output. A person is asked where input and output are a terminal, and the output is for people."""
    output = Output()
    return Console(
        write=output, ask=output.ask if form == "text" and interactive() else None, form=form, language=language
    )
