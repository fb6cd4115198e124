"""Compile many documents: read, recall what is unchanged, compile the rest on all cores, hand results out in order.

Three things keep a large library cheap. Records are read in bulk, so that an unchanged document costs little more than
reading and hashing it. What must be compiled goes to other processes only when it is worth starting them. And only
documents with calls wait until the names of all documents are known; the others are compiled as they are read.

This is the I/O edge of the compiler: it opens files and processes, and holds no rule of the language.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from cli.batch_worker import Answer, Broken, Document, Item, Job, Outcome, Worker
from cli.trouble import SYSTEM_FAULTS
from pipeline.compiler import NO_PROJECT, Compiler, Input
from pipeline.incremental.report import StageReport
from pipeline.project import Project, ProjectDocument, ProjectView, stem

if TYPE_CHECKING:
    from cli.pool import Pool


T = TypeVar("T")
U = TypeVar("U")

Progress: TypeAlias = Callable[[int, int], None]

READ_AT_ONCE = 256
"""Documents whose records are looked up together."""

READ_AT_ONCE_BYTES = 32 << 20

TASK = 32
"""Documents that a process is given at once, to go through the stages together."""

LAST_TASKS = 8
"""The same towards the end, so that all processes come to it at about the same time."""

WORTH_PROCESSES = 48
"""From so many documents to compile on, starting processes takes less time than it saves."""

TASK_SLOW, WORTH_PROCESSES_SLOW = 1, 2
"""The same where a model writes: a document takes seconds, and must be stored as soon as it is done."""


def no_siblings() -> Iterable[Document]:
    return ()


def no_progress(done: int, total: int) -> None:
    """Nobody watches."""


def compile_many(
    documents: Sequence[Document],
    job: Job[T],
    *,
    siblings: Callable[[], Iterable[Document]] = no_siblings,
    processes: int | None = None,
    progress: Progress = no_progress,
) -> Generator[Outcome[T], None, None]:
    """One outcome a document, in their order, each as soon as it and those before it are known.

    `documents`: each path once. `siblings`: further documents that may be called (C1); they are read only if some
    document calls. `processes`: at most so many, None: one a core. `progress` is told how many of how many are done.
    Raises StoreError where the store cannot be used. Closing the iterator, and an interrupt, end all processes.
    """
    batch = _Batch(documents, job, siblings, processes, progress)
    try:
        yield from batch.run()
    finally:
        batch.close()


def plan_one(
    document: Document, job: Job[T], *, siblings: Callable[[], Iterable[Document]] = no_siblings
) -> tuple[StageReport, ...]:
    """What compiling the document would run, and why (`aop why`). Leaves nothing behind. Raises OSError, StoreError."""
    with job.open_store() as store:
        compiler = Compiler(job.catalog, store, job.generator, job.options)
        source = Input(document.path, document.read())
        survey = compiler.survey(source)
        project = NO_PROJECT
        if survey.document.calls:
            others = (_surveyed(compiler, other) for other in siblings() if other.path != document.path)
            project = Project([survey.document, *others])
        return compiler.plan(source, project, survey=survey)


def _surveyed(compiler: Compiler, document: Document) -> ProjectDocument:
    try:
        return compiler.survey(Input(document.path, document.read())).document
    except OSError:
        return _unknown(document.path)


def _unknown(path: str) -> ProjectDocument:
    """A document that cannot be read can still be called: by its path."""
    return ProjectDocument(path, stem(path), ())


class _Batch(Generic[T]):
    def __init__(
        self,
        documents: Sequence[Document],
        job: Job[T],
        siblings: Callable[[], Iterable[Document]],
        processes: int | None,
        progress: Progress,
    ) -> None:
        self._documents = documents
        self._job = job
        self._siblings = siblings
        self._processes = processes
        self._progress = progress
        self._compiler = job.compiler()
        slow = bool(job.generator.identity.model)
        self._task, self._worth_processes = (TASK_SLOW, WORTH_PROCESSES_SLOW) if slow else (TASK, WORTH_PROCESSES)
        self._project: ProjectView | None = None
        self._here: Worker[T] = Worker(job, None, self._compiler)
        self._names: dict[str, ProjectDocument] = {}
        self._calling: list[Item] = []
        self._outcomes: dict[int, Outcome[T]] = {}
        self._done = self._emitted = self._kept_bytes = 0
        self._pool: Pool[tuple[Item, ...], list[Answer[T]]] | None = None

    def close(self) -> None:
        """Raises StoreError."""
        if self._pool is not None:
            self._pool.end()
        self._compiler.store.close()

    # ----------------------------------------------------------------------------------------- the two rounds

    def run(self) -> Iterator[Outcome[T]]:
        yield from self._round(self._read(list(enumerate(self._documents))), len(self._documents))
        if self._calling:
            # The second round: documents with calls, now that the names of all can be known.
            others = [(None, document) for document in self._siblings() if document.path not in self._names]
            yield from self._round(self._read(others), len(others))
            self._begin_round(Project(self._names.values()))
            chunks = _chunked(self._calling, READ_AT_ONCE)
            known = (self._with_records(list(items)) for items in chunks)  # the first round left some
            yield from self._round(known, len(self._calling))
        self._compiler.store.flush()

    def _begin_round(self, project: ProjectView) -> None:
        self._project = project
        self._here = Worker(self._job, project, self._compiler)

    def _round(self, chunks: Iterable[Sequence[Item]], left: int) -> Iterator[Outcome[T]]:
        """`left`: how many items the chunks have together, or a few more."""
        for items in chunks:
            missing = [item for item in items if not self._recall(item)]
            yield from self._ready()
            left -= len(items)
            yield from self._compile(missing, left)
        while self._pool is not None and self._pool.busy:
            self._take(self._pool)
            yield from self._ready()
        yield from self._ready()  # where nothing could be read, there was no chunk
        if self._pool is not None:
            self._pool.close()  # what it stored is there for everybody; its processes know no project
            self._pool = None

    def _ready(self) -> Iterator[Outcome[T]]:
        while self._emitted in self._outcomes:
            yield self._outcomes.pop(self._emitted)
            self._emitted += 1

    # ------------------------------------------------------------------------------------------ what is known

    def _read(
        self, documents: Sequence[tuple[int, Document]] | Sequence[tuple[None, Document]]
    ) -> Iterator[list[Item]]:
        """The documents with their bytes and records, as many together as is good for the store and for memory."""
        items: list[Item] = []
        size = 0
        for place, document in documents:
            try:
                data = document.read()
            except SYSTEM_FAULTS as error:
                self._settle(Item(place, document, None, ()), Answer(None, Broken(document.path, error)))
                continue
            items.append(Item(place, document, data, ()))
            size += len(data)
            if len(items) >= READ_AT_ONCE or size >= READ_AT_ONCE_BYTES:
                yield self._with_records(items)
                items, size = [], 0
        if items:
            yield self._with_records(items)

    def _with_records(self, items: list[Item]) -> list[Item]:
        records = self._compiler.records(item.document.path for item in items)
        return [item._replace(known=tuple(records[item.document.path])) for item in items]

    def _recall(self, item: Item) -> bool:
        """Answer the item without running a stage, if its records can."""
        if not item.known:
            return False
        path, survey = item.document.path, item.survey
        if survey is None:
            sha256 = hashlib.sha256(item.data or b"").hexdigest()
            survey = self._compiler.surveyed(path, sha256, item.known)
            if survey is None:
                return False
            if item.place is None or survey.document.calls:
                self._settle(item, Answer(survey, None))
                return True
        project = NO_PROJECT if self._project is None else self._project
        try:
            found = self._compiler.recall(path, survey.sha256, item.known, project, item.read)
            if found is None:
                return False
            answer = Answer(survey, self._job.finish(self._compiler, found))
        except SYSTEM_FAULTS as error:
            answer = Answer(survey, Broken(path, error))
        self._settle(item, answer)
        return True

    # ---------------------------------------------------------------------------------------------- compiling

    def _compile(self, items: list[Item], left: int) -> Iterator[Outcome[T]]:
        """In other processes if there are many, else here and now. `left`: how many are still to come."""
        if self._pool is None and len(items) >= self._worth_processes and self._size() > 1:
            from cli.pool import Pool  # noqa: PLC0415 - 20 ms that most compiles do not need

            self._compiler.load_stages()  # once for all processes, where they are forked
            self._pool = Pool(partial(Worker[T], self._job, self._project), self._size(), SYSTEM_FAULTS)
        if self._pool is None:
            for task in _chunked(items, self._task):
                for item, answer in zip(task, self._here.answers(task), strict=True):
                    self._settle(item, answer)
                yield from self._ready()
            self._compiler.store.flush()
        else:
            start = 0
            while start < len(items):
                while not self._pool.room:
                    self._take(self._pool)
                    yield from self._ready()
                # Half of what each process would get if all that is left were shared out now.
                share = (len(items) - start + left) // (2 * self._size())
                size = min(self._task, max(LAST_TASKS, share))
                self._pool.give(tuple(items[start : start + size]))
                start += size

    def _size(self) -> int:
        from cli.pool import cores  # noqa: PLC0415 - as above

        return cores() if self._processes is None else self._processes

    def _take(self, pool: Pool[tuple[Item, ...], list[Answer[T]]]) -> None:
        """Wait for answers. If a process died, each document of its task is tried by itself: one is to blame."""
        for items, result in pool.wait():
            if isinstance(result, list):
                for item, answer in zip(items, result, strict=True):
                    self._settle(item, answer)
            elif len(items) == 1:
                self._settle(items[0], Answer(None, Broken(items[0].document.path, result)))
            else:
                for item in items:
                    pool.give((item,))

    def _settle(self, item: Item, answer: Answer[T]) -> None:
        path = item.document.path
        self._names[path] = _unknown(path) if answer.survey is None else answer.survey.document
        if item.place is None:
            return
        if answer.outcome is None:
            self._calling.append(self._kept(item)._replace(survey=answer.survey))
            return
        self._outcomes[item.place] = answer.outcome
        self._done += 1
        self._progress(self._done, len(self._documents))

    def _kept(self, item: Item) -> Item:
        """The item with its bytes, for as long as memory is not the worse for it: a pipe cannot be read twice."""
        self._kept_bytes += len(item.data or b"")
        return item if self._kept_bytes <= READ_AT_ONCE_BYTES else item._replace(data=None)


def _chunked(entries: Sequence[U], size: int) -> Iterator[Sequence[U]]:
    return (entries[start : start + size] for start in range(0, len(entries), size))
