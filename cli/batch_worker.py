"""What one process does in a compile of many documents: items in, answers out."""

from __future__ import annotations

import copyreg
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from catalog.view import CatalogView
from cli.trouble import SYSTEM_FAULTS
from pipeline.compilation import Compilation
from pipeline.compiler import NO_PROJECT, Compiler, Input, Options, Publish, Survey
from pipeline.generators.protocol import Generator
from pipeline.incremental.lockstep import Steps, together
from pipeline.incremental.record import Record
from pipeline.project import ProjectView
from pipeline.stores.protocol import Store, StoreError

T = TypeVar("T")


def _rebuild(kind: type[Exception], arguments: tuple[object, ...], attributes: dict[str, object]) -> Exception:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


def _reduce(error: Exception) -> tuple[Callable[..., Exception], tuple[object, ...]]:
    return _rebuild, (type(error), error.args, error.__dict__)


for _kind in SYSTEM_FAULTS:
    if _kind.__init__ is not Exception.__init__ and not issubclass(_kind, OSError | MemoryError):
        # Exceptions with arguments of their own do not survive the way from another process by themselves.
        copyreg.pickle(_kind, _reduce)


class Document(NamedTuple):
    """`path`: as in the result, POSIX. `read` gives the bytes or raises OSError; picklable where processes spawn."""

    path: str
    read: Callable[[], bytes]


class Job(NamedTuple, Generic[T]):
    """What is done with each document.

    `publish` and `render` run in whichever process compiled it: `publish` writes its output, `render` makes of the
    compile what is to be known of it, which must be picklable. Where processes are spawned, so must be all of this.
    """

    open_store: Callable[[], Store]
    catalog: CatalogView
    generator: Generator
    options: Options
    render: Callable[[Compilation], T]
    publish: Publish | None = None

    def compiler(self) -> Compiler:
        """With a store of its own, which the caller must close. Raises StoreError."""
        return Compiler(self.catalog, self.open_store(), self.generator, self.options)

    def finish(self, compiler: Compiler, compilation: Compilation) -> Compiled[T]:
        """Publish and render a compile that was recalled. Raises what they raise, StoreError."""
        if self.publish is not None:
            compiler.publish(compilation, self.publish)
        return Compiled(compilation.path, self.render(compilation))


class Compiled(NamedTuple, Generic[T]):
    """`value` is what `Job.render` made."""

    path: str
    value: T


class Broken(NamedTuple):
    """A document that a system fault kept from being compiled: `cli.trouble.SYSTEM_FAULTS`, `cli.pool.WorkerDied`."""

    path: str
    error: Exception


Outcome: TypeAlias = Compiled[T] | Broken


class Item(NamedTuple):
    """A document to be compiled. `place`: where it is in the input, None for a sibling, which is only surveyed.

    `data` None: to be read again. `known`: its records. `survey`: in the second round, when all names are known.
    """

    place: int | None
    document: Document
    data: bytes | None
    known: tuple[Record, ...]
    survey: Survey | None = None

    def read(self) -> bytes:
        """Raises OSError."""
        return self.document.read() if self.data is None else self.data


class Answer(NamedTuple, Generic[T]):
    """What came of an item. `outcome` None: it was only surveyed, as a sibling or because it calls."""

    survey: Survey | None
    outcome: Compiled[T] | Broken | None


GROUP_BYTES = 128 << 10
"""Documents that go through the stages together have at most so many bytes: large ones need their memory alone."""

GATHERED = 64
"""After so many documents a process stores what it made: a transaction costs as much as several documents."""

GATHERED_S = 1.0
"""After so many seconds in any case: what a slow generator made must not be lost when the compile is interrupted."""


class Worker(Generic[T]):
    """Compiles items. `project` None: the first round, in which documents with calls are only surveyed.

    Raises StoreError where the store cannot be opened.
    """

    def __init__(self, job: Job[T], project: ProjectView | None, compiler: Compiler | None = None) -> None:
        self._job = job
        self._project = project
        self._compiler = job.compiler() if compiler is None else compiler
        self._gathered = 0
        self._flushed = time.monotonic()

    def __call__(self, items: tuple[Item, ...]) -> list[Answer[T]]:
        """One answer an item. What was made is stored now and then."""
        answers = self.answers(items)
        self._gathered += len(items)
        if self._gathered >= GATHERED or time.monotonic() - self._flushed > GATHERED_S:
            try:
                self._compiler.store.flush()
            except StoreError as error:
                pairs = zip(items, answers, strict=True)
                return [Answer(answer.survey, Broken(item.document.path, error)) for item, answer in pairs]
            self._gathered, self._flushed = 0, time.monotonic()
        return answers

    def answers(self, items: Sequence[Item]) -> list[Answer[T]]:
        """One an item; nothing is flushed."""
        answers: list[Answer[T]] = []
        for group in _grouped(items):
            answers += together([self._answering(item) for item in group])
        return answers

    def _answering(self, item: Item) -> Steps[Answer[T]]:
        path = item.document.path
        survey = item.survey
        try:
            source = Input(path, item.read())
            if survey is None:
                survey = self._compiler.survey(source, item.known)
                if item.place is None or survey.document.calls:
                    self._compiler.keep(survey)
                    return Answer(survey._replace(step=None), None)
            project = NO_PROJECT if self._project is None else self._project
            yield
            compilation = yield from self._compiler.compiling(
                source, project, survey=survey, known=item.known, publish=self._job.publish
            )
            return Answer(survey._replace(step=None), Compiled(path, self._job.render(compilation)))
        except SYSTEM_FAULTS as error:
            # That its output cannot be written is no reason to refuse those that call it.
            return Answer(None if survey is None else survey._replace(step=None), Broken(path, error))

    def close(self) -> None:
        """Raises StoreError."""
        self._compiler.store.close()


def _grouped(items: Sequence[Item]) -> Iterator[list[Item]]:
    group: list[Item] = []
    size = 0
    for item in items:
        own = GROUP_BYTES if item.data is None else len(item.data)
        if group and size + own > GROUP_BYTES:
            yield group
            group, size = [], 0
        group.append(item)
        size += own
    if group:
        yield group
