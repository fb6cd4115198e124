"""A run: the phases of a procedure in their order, from wherever its record says that it is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal, Protocol

from aop_runtime.declarations import Phase, Procedure
from aop_runtime.engine.budget import Budget, LimitReached, Untimed
from aop_runtime.engine.library import compiled_folder
from aop_runtime.engine.model_names import ModelFault
from aop_runtime.engine.models import Models
from aop_runtime.engine.people import AnswerFault
from aop_runtime.engine.phase import EarlierResult, prompt, run_phase
from aop_runtime.engine.script import ScriptFault
from aop_runtime.faults import Fault
from aop_runtime.loading import ModuleFault, load_procedure
from aop_runtime.manifest import Manifest, ManifestFault, read_manifest
from aop_runtime.messages import Message
from aop_runtime.plane.dispatch import Plane, RunSetting, SchemaFault
from aop_runtime.plane.hooks import Hook
from aop_runtime.plane.permission import Rules
from aop_runtime.plane.questions import Person, Question, Waiting
from aop_runtime.plane.registry import Registry
from aop_runtime.runs.events import (
    Event,
    Noted,
    PhaseFinished,
    PhaseStarted,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunWaiting,
)
from aop_runtime.runs.folder import Changes, Plan, RunFault, RunFolder, all_runs, child_id
from aop_runtime.runs.journal import Journal
from aop_runtime.runs.record import read_record
from aop_runtime.runs.vault import Vault
from aop_runtime.sources.protocol import Source, SourceFault

Status = Literal["finished", "waiting", "failed", "cancelled"]


class Failed(Fault):
    """A run that was called has failed or was cancelled."""


_FAULTS: Final[Mapping[type[Fault], str]] = {
    SourceFault: "source",
    ModelFault: "model",
    ScriptFault: "script",
    LimitReached: "limit",
    AnswerFault: "answer",
    SchemaFault: "schema",
    ModuleFault: "procedure",
    ManifestFault: "procedure",
    RunFault: "run",
    Failed: "called",
}
"""What ends a run as failed, and can be put right before it is resumed."""

FAULT_CODES: Final = frozenset(_FAULTS.values())
"""The `code` of a `RunFailed`."""

_CANCEL: Final = "cancel"
_POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Outcome:
    """`run` and `question`: where somebody is to answer what; `run` may be one that this one called. `why` it failed.
    `result`: what the last phase came to."""

    status: Status
    result: str = ""
    why: Message | None = None
    run: str = ""
    question: Question | None = None

    @property
    def message(self) -> str:
        """`why` in English."""
        return "" if self.why is None else str(self.why)


class Equipment(Protocol):
    """What a run needs beside its record; made by `engine.setup` for the run and for those that it calls."""

    @property
    def models(self) -> Models: ...

    @property
    def rules(self) -> tuple[Rules, ...]: ...

    def sources(self, manifest: Manifest, folder: RunFolder) -> Sequence[Source]: ...

    def hooks(self, folder: RunFolder) -> Sequence[Hook]: ...

    def person(self, folder: RunFolder) -> Person: ...

    def vault(self, folder: RunFolder) -> Vault: ...

    def called(self, procedure: str) -> Equipment: ...


class WaitingIn(Exception):
    """Somebody is to answer a question of a run that was called."""

    def __init__(self, run: str, question: Question) -> None:
        super().__init__(question.text)
        self.run = run
        self.question = question


async def run(
    folder: RunFolder,
    equipment: Equipment,
    watch: Callable[[str, Event], None],
    *,
    changes: Changes = Changes(),  # noqa: B008 - immutable
    budget: Budget | None = None,
) -> Outcome:
    """Drive it from where it stands to its end, to a question, or to a fault; all three are recorded.

    `changes`: to what it was started with, from now on. `budget`: of the run that called it.
    Raises RunFault when it cannot be driven now, and JournalFault when its record cannot be kept.
    """
    plan = folder.plan()
    with folder.held():
        plan = changes.over(read_record(folder.path).changed(plan))
        shared = budget or Budget(plan.limits, (read_record(one.path) for one in family(folder)))

        def seen(event: Event) -> None:
            shared.take(event)
            watch(folder.run, event)

        vault = reduce(Vault.joined, map(equipment.vault, family(folder)), Vault(salt=folder.run))
        kept = Journal(folder.path, seen, active=lambda: shared.seconds, vault=vault)
        with contextlib.closing(kept) as journal:
            match journal.end:
                case RunFinished() as end:
                    return Outcome("finished", result=end.result)
                case RunCancelled():
                    raise RunFault("run.was-cancelled", run=folder.run)
                case _:
                    pass
            try:
                async with contextlib.nullcontext() if budget is not None else shared.timed():
                    return await _recorded(folder, plan, equipment, journal, watch, changes, shared)
            except tuple(_FAULTS) as fault:
                code = next(code for kind, code in _FAULTS.items() if isinstance(fault, kind))
                failed = RunFailed(code=code, message=str(fault), message_ja=fault.text("ja"))
                journal.record(failed, durable=True)
                return Outcome("failed", why=fault.message)


async def _recorded(
    folder: RunFolder,
    plan: Plan,
    equipment: Equipment,
    journal: Journal,
    watch: Callable[[str, Event], None],
    changes: Changes,
    budget: Budget,
) -> Outcome:
    procedure, manifest = read_compiled(folder.path)
    if journal.started is None:
        journal.record(
            RunStarted(
                run=folder.run,
                procedure=procedure.name,
                module_sha256=manifest.module_sha256,
                model=plan.model,
                callers=plan.callers,
            ),
            durable=True,
        )
    else:
        journal.record(RunResumed(changes=changes))
    driver = _Driver(folder, plan, procedure, manifest, equipment, journal, watch, budget)
    work = asyncio.ensure_future(driver.phases())
    watcher = asyncio.ensure_future(_cancelled(folder.path / _CANCEL, work))
    try:
        result = await work
    except Waiting as waiting:
        if driver.person.fault is not None:
            raise driver.person.fault from None
        journal.record(RunWaiting(question=waiting.question.id), durable=True)
        return Outcome("waiting", run=folder.run, question=waiting.question)
    except WaitingIn as waiting:
        journal.record(RunWaiting(question=f"{waiting.run}:{waiting.question.id}"), durable=True)
        return Outcome("waiting", run=waiting.run, question=waiting.question)
    except asyncio.CancelledError:
        if not (folder.path / _CANCEL).exists():
            raise
        journal.record(RunCancelled(), durable=True)
        if any((folder.runs / caller / _CANCEL).exists() for caller in plan.callers):
            # Whoever called it is to end as well.
            raise
        return Outcome("cancelled")
    finally:
        watcher.cancel()
        await driver.aclose()
    journal.record(RunFinished(result=result), durable=True)
    return Outcome("finished", result=result)


def read_compiled(folder: Path) -> tuple[Procedure, Manifest]:
    """The procedure of a folder, and the manifest that was written for it. Raises ModuleFault, ManifestFault, RunFault:
    also where the module was edited, since nobody has compiled what it says now."""
    procedure, manifest = load_procedure(folder / "procedure.py"), read_manifest(folder / "manifest.json")
    if manifest.module_sha256 != sha256((folder / "procedure.py").read_bytes()).hexdigest():
        raise RunFault("run.edited", folder=str(folder))
    return procedure, manifest


async def _cancelled(request: Path, work: asyncio.Future[str]) -> None:
    """Ends the work when another process asks for it by the file `request`."""
    while not request.exists():
        await asyncio.sleep(_POLL_S)
    work.cancel()


def request_cancel(folder: RunFolder) -> None:
    """End the run for good, and those that it called, whoever drives them. Raises RunFault."""
    folder.plan()
    # Whoever drives it sees the callers' request first.
    runs = family(folder)[::-1]
    for one in runs:
        (one.path / _CANCEL).touch(mode=0o600)
    for one in runs:
        with contextlib.suppress(RunFault), one.held(), contextlib.closing(Journal(one.path)) as journal:
            if not isinstance(journal.end, RunFinished | RunCancelled):
                journal.record(RunCancelled(), durable=True)


class _Driver:
    def __init__(
        self,
        folder: RunFolder,
        plan: Plan,
        procedure: Procedure,
        manifest: Manifest,
        equipment: Equipment,
        journal: Journal,
        watch: Callable[[str, Event], None],
        budget: Budget,
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._procedure = procedure
        self._equipment = equipment
        self._journal = journal
        self._watch = watch
        self._hooks = tuple(equipment.hooks(folder))
        self._budget = budget
        self.person = Untimed(equipment.person(folder), budget)
        self._state: dict[str, object] = {}
        self._cancelled = asyncio.Event()
        self._registry = Registry(
            equipment.sources(manifest, folder),
            model=plan.model,
            hooks=self._hooks,
            features=frozenset(plan.features),
            values={"run": folder.run, "procedure": procedure.name},
        )

    async def phases(self) -> str:
        earlier: list[EarlierResult] = []
        for place, phase in enumerate(self._procedure.phases):
            result = self._journal.phase_result(place)
            if result is None:
                self._journal.record(PhaseStarted(phase=place, title=phase.title))
                asked = prompt(self._plan.input, earlier, self._plan.language)
                if phase.calls is not None:
                    result = await self._called(place, phase.calls, asked)
                else:
                    result = await self._agent(place, phase, asked)
                self._journal.record(PhaseFinished(phase=place, result=result), durable=True)
            earlier.append(EarlierResult(phase.number, phase.title, result))
        return earlier[-1].result

    async def _agent(self, place: int, phase: Phase, asked: str) -> str:
        tools = await self._registry.tools(phase)
        setting = RunSetting(
            run=self._folder.run,
            phase=place,
            callers=self._plan.callers,
            folder=self._folder.path,
            state=self._state,
            cancelled=self._cancelled,
            progress=lambda text: self._journal.tell(Noted(phase=place, text=text)),
            notify=lambda text: self._journal.record(Noted(phase=place, text=text)),
            language=self._plan.language,
            admit=self._budget.check_inner_call,
        )
        plane = Plane(
            tools,
            setting=setting,
            rules=self._equipment.rules,
            hooks=self._hooks,
            journal=self._journal,
            person=self.person,
        )
        model = self._equipment.models.of("" if phase.number is None else str(phase.number))
        language = self._plan.language
        return await run_phase(place, phase, asked, tools, plane, model, self._journal, self._budget, language)

    async def _called(self, place: int, name: str, asked: str) -> str:
        """Another procedure, as a run with its own record, its own grants and this one's rules."""
        child = RunFolder(self._folder.runs, child_id(self._folder.run, place))
        if not child.exists():
            compiled = compiled_folder(Path(self._plan.library or "."), name)
            callers = (*self._plan.callers, self._folder.run)
            plan = self._plan.model_copy(
                update={"run": child.run, "procedure": name, "input": asked, "callers": callers}
            )
            child.create(plan, compiled, sorted((self._folder.path / "attachments").iterdir()))
            self._journal.guard(self._equipment.vault(child))
        outcome = await run(
            child,
            self._equipment.called(name),
            self._watch,
            changes=Changes(model=self._plan.model, script=self._plan.script),
            budget=self._budget,
        )
        match outcome:
            case Outcome(status="finished"):
                return outcome.result
            case Outcome(status="waiting", question=Question() as question):
                raise WaitingIn(outcome.run, question)
            case Outcome(status="failed", why=Message() as why):
                raise Failed("run.called-failed", name=name, run=child.run, why=why)
            case _:
                raise Failed("run.called-cancelled", name=name, run=child.run)

    async def aclose(self) -> None:
        self._cancelled.set()
        await self._registry.aclose()


def family(folder: RunFolder) -> list[RunFolder]:
    """The run and those that it called, and they called, the innermost first."""
    called = [one for one in all_runs(folder.runs) if one.run.startswith(f"{folder.run}.")]
    return [*sorted(called, key=lambda one: len(one.run), reverse=True), folder]


def pending(folder: RunFolder) -> Iterator[tuple[RunFolder, Question]]:
    """The questions that a run and those that it called wait for, the innermost first. Raises JournalFault."""
    for one in family(folder):
        for asked in read_record(one.path).pending:
            fields = asked.model_dump(include=set(Question.__slots__))
            yield one, replace(Question(**fields), arguments=fields["arguments"] or {})
