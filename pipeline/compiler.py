"""The compiler: the stages, one document at a time, through a store (R1-R4).

Pure given its arguments: catalog, project, store and generator are protocols, and nothing here opens a file or reads a
clock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.view import CatalogView
from pipeline.compilation import Compilation
from pipeline.generators.protocol import Generator
from pipeline.incremental import keys, record
from pipeline.incremental.lockstep import Steps, finish
from pipeline.incremental.reads import Inquiries
from pipeline.incremental.recall import RecalledParts, holds
from pipeline.incremental.record import Record, Scope
from pipeline.incremental.report import StageReport, Until, as_told
from pipeline.incremental.shelf import Shelf
from pipeline.project import Project, ProjectDocument, ProjectView, stem
from pipeline.request import DEFAULTS, NO_STEPS, Advance, Before, Input, Options, Publish, Survey
from pipeline.stages import versions
from pipeline.stages.versions import SCHEMA_VERSION
from pipeline.stores.nothing import NoStore
from pipeline.stores.protocol import Store

if TYPE_CHECKING:
    from pipeline.incremental.handoff import Handoff
    from pipeline.incremental.past import Past
    from pipeline.incremental.previous import Previous
    from pipeline.incremental.remember import MadeBy
    from pipeline.incremental.run import Run
    from pipeline.incremental.steps import ParseStep


__all__ = ["DEFAULTS", "NO_PROJECT", "Advance", "Compiler", "Input", "Options", "Publish", "Survey"]

NO_PROJECT = Project(())
"""For a document without calls, which asks nothing of its project."""


class Compiler:
    """One compiler for many documents, used by one thread. Everything may raise StoreError."""

    def __init__(self, catalog: CatalogView, store: Store, generator: Generator, options: Options = DEFAULTS) -> None:
        self.catalog = catalog
        self.store = store
        self.generator = generator
        self.options = options
        self._shelf = Shelf(store)
        self._inquiries = Inquiries(catalog)

    # ------------------------------------------------------------------------------------ what is remembered

    def records(self, paths: Iterable[str]) -> dict[str, list[Record]]:
        """What is remembered of several documents, read at once, newest first."""
        keys = {record.record_key(path): path for path in paths}
        found = self.store.get_traces_many(keys)
        return {path: record.from_traces(found.get(key, ())) for key, path in keys.items()}

    def recall(
        self, path: str, sha256: str, known: Sequence[Record], project: ProjectView, data: Callable[[], bytes]
    ) -> Compilation | None:
        """The compile of an unchanged document, None where a stage may have to run.

        `known`: of `records`. `data` gives the document's bytes, if the store turns out to have lost something.
        """
        return self._recall(path, sha256, known, project, data, NO_STEPS)

    def _recall(
        self,
        path: str,
        sha256: str,
        known: Sequence[Record],
        project: ProjectView,
        data: Callable[[], bytes],
        before: Before,
    ) -> Compilation | None:
        found = self._unchanged(sha256, known, project)
        if found is None:
            return None
        if found is not known[0]:  # an edit was taken back: this is the previous compile now
            self._record(path, found)

        def recover() -> Compilation:
            document = Input(path, data())
            run = finish(self._stages(document, sha256, project, [found], None, before))
            return self._finish(document, sha256, [found], run, None, before.reported)

        return self._recalled(path, found, recover)

    def _unchanged(self, sha256: str, known: Sequence[Record], project: ProjectView) -> Record | None:
        if self.options.reuse == "never":
            return None
        for entry in known:
            head = entry.head
            same = head.document == sha256 and head.setup == self._setup and self._answers(head.scope)
            if same and not head.again and holds(entry, self._inquiries.of(project), self._shelf):
                return entry
        return None

    def _answers(self, scope: Scope) -> bool:
        """Whether a compile of that scope went as far as this one: a check also takes what a whole compile knows."""
        return scope == "whole" or (scope == "check" and self.options.check)

    def _recalled(self, path: str, entry: Record, recover: Callable[[], Compilation]) -> Compilation:
        """`recover`: how the document is compiled, if the store turns out to have lost something."""
        head = entry.head
        parts = RecalledParts(entry, self._shelf, self.options.check, recover)
        return Compilation(path, head.document, head.status, head.kind, head.name, head.receipt, parts)

    # ----------------------------------------------------------------------------------------------- survey

    def survey(self, document: Input, known: Sequence[Record] | None = None) -> Survey:
        """The name and the calls of a document, through the store. `known`: of `records`; None: not asked for yet."""
        sha256 = hashlib.sha256(document.data).hexdigest()
        if known is None:
            known = self.records([document.path])[document.path]
        surveyed = self.surveyed(document.path, sha256, known)
        if surveyed is not None:
            return surveyed
        step = self._parse(document, sha256, *self._earlier(known))
        return Survey(step.in_project(document.path), sha256, step.report, step)

    def keep(self, survey: Survey) -> None:
        """Remember what was parsed, where this compiler will not go on to compile it. Raises StoreError."""
        step = survey.step
        if step is not None and step.report.outcome == "ran":
            from pipeline.incremental.remember import surveyed  # noqa: PLC0415 - as in _earlier

            path = survey.document.path
            self._record(path, surveyed(self._shelf, self._by(path), survey.document, survey.sha256, step))

    def surveyed(self, path: str, sha256: str, known: Sequence[Record]) -> Survey | None:
        """The survey of a document whose very bytes were compiled before."""
        if self.options.reuse != "never":
            for entry in known:
                head = entry.head
                if head.document == sha256 and head.setup == self._setup:
                    return Survey(ProjectDocument(path, head.name, head.calls), sha256, None)
        return None

    # ---------------------------------------------------------------------------------------------- compile

    def compile(
        self,
        document: Input,
        project: ProjectView = NO_PROJECT,
        *,
        survey: Survey | None = None,
        known: Sequence[Record] | None = None,
        publish: Publish | None = None,
        handed: bytes | None = None,
        reported: Sequence[StageReport] = (),
    ) -> Compilation:
        """Compile one document. Raises what the generator and `publish` raise.

        `survey`: of the same bytes, where there was one in this run: its parse is reported as what it was. `known`: of
        `records`; None: not asked for yet. `handed` and `reported`: where this is the last step of a job, what the
        step before gave (`Advance`): its code is used and verified, and stages that it ran are reported as it did.
        """
        steps = self.compiling(
            document, project, survey=survey, known=known, publish=publish, handed=handed, reported=reported
        )
        return finish(steps)

    def advance(
        self,
        document: Input,
        project: ProjectView = NO_PROJECT,
        *,
        until: Until,
        handed: bytes | None = None,
        reported: Sequence[StageReport] = (),
    ) -> Advance:
        """Take the stages up to and including `until`, but remember nothing as the document's compile: a step of a job
        whose last is `compile`. Raises what the generator raises.

        `handed`, `reported`: what the step before gave. Without them, or with what is damaged or of another job, more
        has to run, and nothing else comes of it.
        """
        from pipeline.incremental import handoff  # noqa: PLC0415 - one process alone hands nothing on

        sha256 = hashlib.sha256(document.data).hexdigest()
        known = self.records([document.path])[document.path]
        before = Before(self._taken(handed, document.path, sha256, known).made, reported)
        runs: list[Run] = []

        def advanced(known: Sequence[Record]) -> Compilation:
            runs.append(finish(self._stages(document, sha256, project, known, None, before, until=until)))
            return self._compilation(document, sha256, known, runs[-1], reported)

        found = self._unchanged(sha256, known, project)
        if found is None:
            compilation = advanced(known)
        else:
            compilation = self._recalled(document.path, found, lambda: advanced([found]))
            _ = compilation.positions  # is what it names still there? If not, `advanced` runs
        codes = runs[-1].codes if runs else ()
        damaged = sorted(self._shelf.damaged.intersection([entry.tail.bundle for entry in known]))
        packed = handoff.pack(handoff.Handoff(tuple(damaged), codes), self._job(document.path, sha256, known))
        checked = self.options.check and until != "parse"
        return Advance(compilation, packed, compilation.recalled or compilation.status == "failed" or checked)

    def compiling(
        self,
        document: Input,
        project: ProjectView = NO_PROJECT,
        *,
        survey: Survey | None = None,
        known: Sequence[Record] | None = None,
        publish: Publish | None = None,
        handed: bytes | None = None,
        reported: Sequence[StageReport] = (),
    ) -> Steps[Compilation]:
        """`compile` in steps, so that several documents may take turns (`lockstep.together`)."""
        sha256 = hashlib.sha256(document.data).hexdigest()
        if known is None:
            known = self.records([document.path])[document.path]
        before = NO_STEPS
        if handed is not None or reported:
            before = Before(self._taken(handed, document.path, sha256, known).made, reported)
        recalled = self._recall(document.path, sha256, known, project, lambda: document.data, before)
        if recalled is None:
            run = yield from self._stages(document, sha256, project, known, survey, before)
            yield
            return self._finish(document, sha256, known, run, publish, before.reported)
        if publish is not None:
            self.publish(recalled, publish)
        return recalled

    def publish(self, compilation: Compilation, publish: Publish) -> None:
        """Publish what `recall` gave, and remember the receipt if it is another one."""
        receipt = publish(compilation)
        if receipt != compilation.receipt:
            compilation.receipt = receipt
            key = record.record_key(compilation.path)
            for entry in record.from_traces(self.store.get_traces(key)[:1]):
                self.store.add_trace(key, entry.with_receipt(receipt).to_bytes())

    def plan(
        self,
        document: Input,
        project: ProjectView = NO_PROJECT,
        *,
        survey: Survey | None = None,
        known: Sequence[Record] | None = None,
    ) -> tuple[StageReport, ...]:
        """What a compile would run, and why (`aop why`). No generator runs, and nothing is stored.

        Parse and resolve do run if they must: what comes behind them cannot be known else. `known`: as for
        `compile`.
        """
        sha256 = hashlib.sha256(document.data).hexdigest()
        if known is None:
            known = self.records([document.path])[document.path]
        found = self._unchanged(sha256, known, project)
        if found is not None:
            return self._recalled(document.path, found, lambda: self.compile(document, project)).stages
        return finish(self._stages(document, sha256, project, known, survey, plan=True)).made.stages

    # ------------------------------------------------------------------------------------------------ a run

    def _finish(
        self,
        document: Input,
        sha256: str,
        known: Sequence[Record],
        run: Run,
        publish: Publish | None,
        reported: Sequence[StageReport],
    ) -> Compilation:
        compilation = self._compilation(document, sha256, known, run, reported)
        if publish is not None:
            compilation.receipt = publish(compilation)
        if not isinstance(self.store, NoStore):  # which need not be told of half a million findings
            self._remember(compilation, run)
        return compilation

    def _compilation(
        self, document: Input, sha256: str, known: Sequence[Record], run: Run, reported: Sequence[StageReport]
    ) -> Compilation:
        made, parsed = run.made, run.made.parsed
        before = next((entry.head for entry in known if entry.head.scope == "whole"), None)
        return Compilation(
            document.path,
            sha256,
            "failed" if run.failed else "succeeded",
            None if parsed is None else parsed.kind,
            stem(document.path) if parsed is None else parsed.name,
            None if before is None else before.receipt,
            made._replace(stages=as_told(made.stages, reported)) if reported else made,
        )

    def _stages(
        self,
        document: Input,
        sha256: str,
        project: ProjectView,
        known: Sequence[Record],
        survey: Survey | None,
        before: Before = NO_STEPS,
        *,
        plan: bool = False,
        until: Until | None = None,
    ) -> Steps[Run]:
        from pipeline.incremental.run import Setting, run_stages  # noqa: PLC0415 - as in _earlier

        options = self.options
        pasts, previous = self._earlier(known)
        if survey is not None and survey.sha256 == sha256 and survey.step is not None:
            step = survey.step
        else:
            step = self._parse(document, sha256, pasts, previous)
            if survey is not None and survey.sha256 == sha256 and survey.parse is not None:
                step.report = survey.parse
        inquiry = self._inquiries.of(project)
        setting = Setting(self.store, self.generator, inquiry, options.reuse, options.rewrites, options.check)
        yield
        return (yield from run_stages(setting, step, document.path, pasts, previous, plan, until, before))

    def _taken(self, handed: bytes | None, path: str, sha256: str, known: Sequence[Record]) -> Handoff:
        """What the step before handed on, as far as it is good for this job."""
        from pipeline.incremental import handoff  # noqa: PLC0415 - one process alone hands nothing on

        taken = handoff.unpack(handed, self._job(path, sha256, known))
        self._shelf.know_damaged(taken.damaged)
        return taken

    def _job(self, path: str, sha256: str, known: Sequence[Record]) -> str:
        from pipeline.incremental import handoff  # noqa: PLC0415 - as in advance

        return handoff.job_of(path, sha256, self._setup, self.options, self.catalog.digest, known)

    def load_stages(self) -> None:
        """Load what a compile that runs needs, which else is loaded when the first stage runs."""
        import pipeline.incremental.assembly  # noqa: PLC0415 - see above
        import pipeline.incremental.previous  # noqa: PLC0415 - see above
        import pipeline.incremental.run  # noqa: F401, PLC0415

    def _earlier(self, known: Sequence[Record]) -> tuple[list[Past], Previous | None]:
        """What earlier compiles made, newest first, and the one that this one is compared with."""
        if not known:
            return [], None
        # Loaded where a stage may run: an unchanged document needs none of the stages, and they are slow to import.
        from pipeline.incremental.past import Past  # noqa: PLC0415 - see above
        from pipeline.incremental.previous import Previous  # noqa: PLC0415 - see above

        pasts = [Past(entry, self._shelf) for entry in known]
        return pasts, next((Previous(past) for past in pasts if self._answers(past.head.scope)), None)

    def _parse(self, document: Input, sha256: str, pasts: Sequence[Past], previous: Previous | None) -> ParseStep:
        from pipeline.incremental.steps import parse_step  # noqa: PLC0415 - as in _earlier

        options = self._parse_options(document.path)
        return parse_step(document.data, sha256, options, pasts, previous, self.options.reuse == "never")

    def _remember(self, compilation: Compilation, run: Run) -> None:
        from pipeline.incremental.remember import compiled  # noqa: PLC0415 - as in _earlier

        path = compilation.path
        calls = run.parsed.in_project(path).calls
        self._record(path, compiled(self._shelf, self._by(path), compilation, run, calls))

    def _by(self, path: str) -> MadeBy:
        from pipeline.incremental.remember import MadeBy  # noqa: PLC0415 - as in _earlier

        return MadeBy(self._setup, self._versions, self._parse_options(path), self.options.check)

    def _record(self, path: str, entry: Record) -> None:
        self.store.add_trace(record.record_key(path), entry.to_bytes())

    # ---------------------------------------------------------------------------------------------- settings

    @cached_property
    def _versions(self) -> dict[str, str]:
        """Of each stage and of the artifacts' schema; the generate stage's is its generator's identity."""
        return {
            **versions.BY_STAGE,
            "artifacts": str(SCHEMA_VERSION),
            "generate": keys.identity_text(self.generator.identity),
        }

    @cached_property
    def _setup(self) -> str:
        """Digest of all that decides what comes out for given bytes, apart from path, catalog and project."""
        versions = [f"{name} {version}" for name, version in sorted(self._versions.items())]
        return keys.key("setup", (*versions, self.options.max_bytes))

    def _parse_options(self, path: str) -> tuple[str, int]:
        return stem(path), self.options.max_bytes
