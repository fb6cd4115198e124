"""The compiler: the stages, one document at a time, through a store (R1-R4).

Pure given its arguments: catalog, project, store and generator are protocols, and nothing here opens a file or reads a
clock.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from catalog.view import CatalogView
from pipeline.compilation import Compilation
from pipeline.document.source import DEFAULT_MAX_BYTES
from pipeline.generators.protocol import Generator
from pipeline.incremental import keys, record
from pipeline.incremental.keys import Json
from pipeline.incremental.lockstep import Steps, finish
from pipeline.incremental.reads import Inquiry
from pipeline.incremental.recall import RecalledParts, holds
from pipeline.incremental.record import Head, PhaseRecord, Record, Scope, Tail
from pipeline.incremental.report import StageReport
from pipeline.incremental.shelf import Shelf
from pipeline.project import Project, ProjectDocument, ProjectView, stem
from pipeline.stages import versions
from pipeline.stages.versions import SCHEMA_VERSION
from pipeline.stores.protocol import Store

if TYPE_CHECKING:
    from pipeline.incremental.carry import Reuse
    from pipeline.incremental.past import Past
    from pipeline.incremental.previous import Previous
    from pipeline.incremental.run import Run
    from pipeline.incremental.steps import ParseStep

NO_PROJECT = Project(())
"""For a document without calls, which asks nothing of its project."""


@dataclass(frozen=True, slots=True)
class Options:
    """`reuse`: R3. `rewrites`: how often a generator may try again (I3). `max_bytes`: F3.

    `check`: parse and resolve only.
    """

    reuse: Reuse = "compatible"
    rewrites: int = 2
    max_bytes: int = DEFAULT_MAX_BYTES
    check: bool = False


DEFAULTS = Options()


@dataclass(frozen=True, slots=True)
class Input:
    """A document as saved. `path`: POSIX, relative to the project's root; F5 falls back to its stem for a name."""

    path: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Survey:
    """What a project must know of a document.

    `parse`: the report of the parse that this took, None if a record knew it; `step`: that parse, to be used again by a
    compile that follows soon. It may be dropped to save memory.
    """

    document: ProjectDocument
    sha256: str
    parse: StageReport | None
    step: ParseStep | None = field(default=None, repr=False, compare=False)


Publish: TypeAlias = Callable[[Compilation], Json]
"""What is done with a finished compile (writing its output) before it is remembered. It returns a receipt, which the
next compile of that path has as `Compilation.receipt`. Called for failed compiles, too."""


class Compiler:
    """One compiler for many documents, used by one thread. Everything may raise StoreError."""

    def __init__(self, catalog: CatalogView, store: Store, generator: Generator, options: Options = DEFAULTS) -> None:
        self.catalog = catalog
        self.store = store
        self.generator = generator
        self.options = options
        self._shelf = Shelf(store)
        self._inquiries: list[Inquiry] = []

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
        found = self._unchanged(sha256, known, project)
        if found is None:
            return None
        if found is not known[0]:  # an edit was taken back: this is the previous compile now
            self._record(path, found)
        return self._recalled(path, found, project, data)

    def _unchanged(self, sha256: str, known: Sequence[Record], project: ProjectView) -> Record | None:
        if self.options.reuse == "never":
            return None
        for entry in known:
            head = entry.head
            same = head.document == sha256 and head.setup == self._setup and self._answers(head.scope)
            if same and not head.again and holds(entry, self._inquiry(project), self._shelf):
                return entry
        return None

    def _answers(self, scope: Scope) -> bool:
        """Whether a compile of that scope went as far as this one: a check also takes what a whole compile knows."""
        return scope == "whole" or (scope == "check" and self.options.check)

    def _recalled(self, path: str, entry: Record, project: ProjectView, data: Callable[[], bytes]) -> Compilation:
        head = entry.head

        def recover() -> Compilation:
            document = Input(path, data())
            sha256 = hashlib.sha256(document.data).hexdigest()
            run = finish(self._stages(document, sha256, project, [entry], None))
            return self._finish(document, sha256, [entry], run, None)

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
        return Survey(_project_document(document.path, step), sha256, step.report, step)

    def keep(self, survey: Survey) -> None:
        """Remember what was parsed, where this compiler will not go on to compile it. Raises StoreError."""
        step, document = survey.step, survey.document
        if step is not None and step.report.outcome == "ran":
            from pipeline.incremental.bundle import Bundle, pack_positions  # noqa: PLC0415 - as in _earlier

            bundle = self._shelf.put(Bundle(step.packed, pack_positions(step.positions)))
            head = Head(
                "survey",
                survey.sha256,
                self._setup,
                "succeeded",
                None,
                document.name,
                document.calls,
                "",
                "",
                False,
                None,
            )
            tail = Tail(
                self._versions,
                self._parse_options(document.path),
                bundle,
                step.digest,
                "",
                "",
                (len(step.findings), 0),
                False,
                (),
                None,
            )
            self._record(document.path, Record(head, step.findings, tail))

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
    ) -> Compilation:
        """Compile one document. Raises what the generator and `publish` raise.

        `survey`: of the same bytes, where there was one in this run: its parse is reported as what it was. `known`: of
        `records`; None: not asked for yet.
        """
        return finish(self.compiling(document, project, survey=survey, known=known, publish=publish))

    def compiling(
        self,
        document: Input,
        project: ProjectView = NO_PROJECT,
        *,
        survey: Survey | None = None,
        known: Sequence[Record] | None = None,
        publish: Publish | None = None,
    ) -> Steps[Compilation]:
        """`compile` in steps, so that several documents may take turns (`lockstep.together`)."""
        sha256 = hashlib.sha256(document.data).hexdigest()
        if known is None:
            known = self.records([document.path])[document.path]
        recalled = self.recall(document.path, sha256, known, project, lambda: document.data)
        if recalled is None:
            run = yield from self._stages(document, sha256, project, known, survey)
            yield
            return self._finish(document, sha256, known, run, publish)
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
        self, document: Input, project: ProjectView = NO_PROJECT, *, survey: Survey | None = None
    ) -> tuple[StageReport, ...]:
        """What a compile would run, and why (`aop why`). No generator runs, and nothing is stored.

        Parse and resolve do run if they must: what comes behind them cannot be known else.
        """
        sha256 = hashlib.sha256(document.data).hexdigest()
        known = self.records([document.path])[document.path]
        found = self._unchanged(sha256, known, project)
        if found is not None:
            return self._recalled(document.path, found, project, lambda: document.data).stages
        return finish(self._stages(document, sha256, project, known, survey, plan=True)).made.stages

    # ------------------------------------------------------------------------------------------------ a run

    def _finish(
        self, document: Input, sha256: str, known: Sequence[Record], run: Run, publish: Publish | None
    ) -> Compilation:
        parsed = run.made.parsed
        before = next((entry.head for entry in known if entry.head.scope == "whole"), None)
        compilation = Compilation(
            document.path,
            sha256,
            "failed" if run.failed else "succeeded",
            None if parsed is None else parsed.kind,
            stem(document.path) if parsed is None else parsed.name,
            None if before is None else before.receipt,
            run.made,
        )
        if publish is not None:
            compilation.receipt = publish(compilation)
        self._remember(compilation, run)
        return compilation

    def _stages(
        self,
        document: Input,
        sha256: str,
        project: ProjectView,
        known: Sequence[Record],
        survey: Survey | None,
        plan: bool = False,
    ) -> Steps[Run]:
        from pipeline.incremental.run import Setting, run_stages  # noqa: PLC0415 - as in _earlier

        options = self.options
        pasts, previous = self._earlier(known)
        if survey is not None and survey.sha256 == sha256 and survey.step is not None:
            step = survey.step
        else:
            step = self._parse(document, sha256, pasts, previous)
            if survey is not None and survey.sha256 == sha256 and survey.parse is not None:
                step = replace(step, report=survey.parse)
        inquiry = self._inquiry(project)
        setting = Setting(self.store, self.generator, inquiry, options.reuse, options.rewrites, options.check)
        yield
        return (yield from run_stages(setting, step, document.path, pasts, previous, plan))

    def load_stages(self) -> None:
        """Load what a compile that runs needs, which else is loaded when the first stage runs."""
        import pipeline.incremental.assembly  # noqa: PLC0415
        import pipeline.incremental.previous  # noqa: PLC0415
        import pipeline.incremental.run  # noqa: F401, PLC0415

    def _earlier(self, known: Sequence[Record]) -> tuple[list[Past], Previous | None]:
        """What earlier compiles made, newest first, and the one that this one is compared with."""
        # Loaded where a stage may run: an unchanged document needs none of the stages, and they are slow to import.
        from pipeline.incremental.past import Past  # noqa: PLC0415
        from pipeline.incremental.previous import Previous  # noqa: PLC0415

        pasts = [Past(entry, self._shelf) for entry in known]
        return pasts, next((Previous(past) for past in pasts if self._answers(past.head.scope)), None)

    def _parse(self, document: Input, sha256: str, pasts: Sequence[Past], previous: Previous | None) -> ParseStep:
        from pipeline.incremental.steps import parse_step  # noqa: PLC0415 - as in _earlier

        options = self._parse_options(document.path)
        return parse_step(document.data, sha256, options, pasts, previous, self.options.reuse == "never")

    def _remember(self, compilation: Compilation, run: Run) -> None:
        from pipeline.incremental.bundle import Bundle, pack_positions  # noqa: PLC0415 - as in _earlier

        parsed, resolved, assembly = run.parsed, run.resolved, run.assembly
        reads = None if resolved is None else resolved.reads
        linked = None if assembly is None else assembly.linked
        sections = () if run.made.parsed is None else run.made.parsed.phases
        head = Head(
            "check" if self.options.check else "whole",
            compilation.sha256,
            self._setup,
            compilation.status,
            compilation.kind,
            compilation.name,
            _project_document(compilation.path, parsed).calls,
            "" if reads is None else reads.catalog,
            "" if reads is None else reads.project,
            assembly is not None and assembly.again,
            compilation.receipt,
        )
        bundle = Bundle(
            parsed.packed,
            pack_positions(parsed.positions),
            b"" if resolved is None else resolved.packed,
            b"" if linked is None else linked.packed,
        )
        tail = Tail(
            self._versions,
            self._parse_options(compilation.path),
            self._shelf.put(bundle),
            parsed.digest,
            "" if resolved is None else resolved.digest,
            "" if linked is None else linked.digest,
            (len(parsed.findings), 0 if resolved is None else len(resolved.findings)),
            assembly is not None and assembly.proven,
            tuple(PhaseRecord(section.number, "", "") for section in sections) if assembly is None else assembly.phases,
            reads,
        )
        self._record(compilation.path, Record(head, run.made.findings, tail))

    def _record(self, path: str, entry: Record) -> None:
        self.store.add_trace(record.record_key(path), entry.to_bytes())

    # ---------------------------------------------------------------------------------------------- settings

    @cached_property
    def _versions(self) -> dict[str, str]:
        """Of each stage and of the artifacts' schema; the generate stage's is its generator's identity."""
        identity = self.generator.identity
        return {
            **versions.BY_STAGE,
            "artifacts": str(SCHEMA_VERSION),
            "generate": keys.encode((identity.name, identity.version, identity.model)),
        }

    @cached_property
    def _setup(self) -> str:
        """Digest of all that decides what comes out for given bytes, apart from path, catalog and project."""
        versions = [f"{name} {version}" for name, version in sorted(self._versions.items())]
        return keys.key("setup", (*versions, self.options.max_bytes))

    def _parse_options(self, path: str) -> tuple[str, int]:
        return stem(path), self.options.max_bytes

    def _inquiry(self, project: ProjectView) -> Inquiry:
        """One for each project, so that a question is asked once for all documents."""
        for inquiry in self._inquiries:
            if inquiry.project is project:
                return inquiry
        self._inquiries.append(Inquiry(self.catalog, project))
        del self._inquiries[:-2]
        return self._inquiries[-1]


def _project_document(path: str, step: ParseStep) -> ProjectDocument:
    if step.artifact is None:
        return ProjectDocument(path, stem(path), ())
    targets = (call.target for section in step.artifact.phases for call in section.calls if call.target)
    return ProjectDocument(path, step.artifact.name, tuple(dict.fromkeys(targets)))
