"""Many documents: in order, on all cores, through one store, whatever goes wrong with single ones."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import pytest

from catalog.snapshot import Catalog
from cli import batch, pool
from cli.batch import compile_many, plan_one
from cli.batch_worker import Broken, Compiled, Document, Job, Outcome
from cli.pool import WorkerDied
from cli.trouble import Trouble
from pipeline.artifacts import Fault, PhaseCode, Unit
from pipeline.compilation import Compilation
from pipeline.compiler import DEFAULTS, Options
from pipeline.generators.protocol import Generator, GeneratorIdentity
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental.keys import Json
from pipeline.stores.files import FileStore
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import Store

from .world import catalog_of, everything, office, what_ran

MANY = 2 * batch.WORTH_PROCESSES

CATALOG = catalog_of(json.dumps({"version": 1, "tools": office()}))

Shown = tuple[str, dict[str, object], dict[str, str]]


def given(text: str) -> bytes:
    return text.encode()


def document(path: str, text: str) -> Document:
    return Document(path, partial(given, text))


def library(count: int = MANY) -> list[Document]:
    """Every tenth document calls the one before it."""
    documents = []
    for n in range(count):
        call = f"\n## フェーズ 2: 回す (呼び出す AOP: 手順 {n - 1})\n" if n % 10 == 9 else ""
        text = f"# 手順 {n}\n\n## フェーズ 1: 集める (使う道具: drive の files)\n\n{n} を探す。\n{call}"
        documents.append(document(f"d{n}.md", text))
    return documents


def show(compilation: Compilation) -> Shown:
    return compilation.status, everything(compilation), what_ran(compilation.stages)


def publish(compilation: Compilation) -> Json:
    return ["written", compilation.path, compilation.sha256]


def job(
    folder: Path, generator: Generator | None = None, options: Options = DEFAULTS, catalog: Catalog = CATALOG
) -> Job[Shown]:
    open_store: Callable[[], Store] = partial(FileStore, folder)
    return Job(open_store, catalog, generator or TemplateGenerator(), options, show)


def values(outcomes: Sequence[Outcome[Shown]]) -> list[Shown]:
    assert [outcome for outcome in outcomes if isinstance(outcome, Broken)] == []
    return [outcome.value for outcome in outcomes if isinstance(outcome, Compiled)]


def test_results_are_the_same_in_this_process_and_in_several(tmp_path: Path) -> None:
    """One outcome a document, in input order; what comes out does not depend on how it was divided (R4)."""
    documents = library()
    alone = values(list(compile_many(documents, job(tmp_path / "one"), processes=1)))
    together = values(list(compile_many(documents, job(tmp_path / "two"), processes=2)))
    assert [made for _, made, _ in together] == [made for _, made, _ in alone]
    assert [made["name"] for _, made, _ in together] == [f"手順 {n}" for n in range(MANY)]
    assert {status for status, _, _ in together} == {"succeeded"}
    assert [set(ran.values()) for _, _, ran in together] == [{"new"}] * MANY


@pytest.mark.parametrize("processes", [1, 2])
def test_the_second_compile_runs_nothing(tmp_path: Path, processes: int) -> None:
    """Whichever process compiled a document first."""
    documents = library()
    first = values(list(compile_many(documents, job(tmp_path), processes=2)))
    second = values(list(compile_many(documents, job(tmp_path), processes=processes)))
    assert [ran for _, _, ran in second] == [{}] * MANY
    assert [made for _, made, _ in second] == [made for _, made, _ in first]


def test_one_changed_document_runs_alone(tmp_path: Path) -> None:
    """And the one that calls it runs only if its name or calls changed."""
    documents = library()
    list(compile_many(documents, job(tmp_path)))
    documents[8] = document("d8.md", "# 手順 8\n\n## フェーズ 1: 集める (使う道具: drive の files)\n\nよく探す。\n")
    second = values(list(compile_many(documents, job(tmp_path))))
    assert [n for n, (_, _, ran) in enumerate(second) if ran] == [8]
    documents[8] = document("d8.md", "# 手順 八\n\n## フェーズ 1: 集める (使う道具: drive の files)\n\nよく探す。\n")
    third = values(list(compile_many(documents, job(tmp_path))))
    assert [n for n, (_, _, ran) in enumerate(third) if ran] == [8, 9]
    assert third[9][0] == "failed"
    assert third[9][2] == {"resolve": "callee"}


def test_results_are_the_same_where_processes_cannot_be_forked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spawned ones get everything by pickle."""
    monkeypatch.setattr(pool, "_context", lambda: multiprocessing.get_context("spawn"))
    documents = library()
    spawned = values(list(compile_many(documents, job(tmp_path / "spawned"), processes=2)))
    monkeypatch.undo()
    alone = values(list(compile_many(documents, job(tmp_path / "alone"), processes=1)))
    assert spawned == alone


def test_documents_without_calls_do_not_wait() -> None:
    """They are answered before the last document is read."""
    read: list[str] = []

    def reading(text: str) -> bytes:
        read.append(text)
        return text.encode()

    documents = [Document(f"d{n}.md", partial(reading, f"# 手順 {n}\n")) for n in range(3 * batch.READ_AT_ONCE)]
    outcomes = compile_many(documents, memory_job(), processes=1)
    next(outcomes)
    assert len(read) == batch.READ_AT_ONCE
    outcomes.close()


def memory_job() -> Job[Shown]:
    return Job(MemoryStore, CATALOG, TemplateGenerator(), Options(), show)


# ----------------------------------------------------------------------------------------------- the project


CALLER = "# 月次\n\n## フェーズ 1: 締める (呼び出す AOP: 締め処理)\n"


def test_a_single_document_may_call_its_siblings() -> None:
    """They are read and surveyed, but not compiled."""
    siblings = [document("shime.md", "# 締め処理\n\n締める。(使う道具: 無い)\n")]
    (outcome,) = compile_many([document("a.md", CALLER)], memory_job(), siblings=lambda: siblings)
    assert values([outcome])[0][0] == "succeeded"


def test_siblings_of_a_document_without_calls_are_not_read() -> None:
    """A folder of thousands does not slow down one document."""

    def siblings() -> list[Document]:
        raise AssertionError("nobody asked")

    (outcome,) = compile_many([document("a.md", "# 甲\n")], memory_job(), siblings=siblings)
    assert values([outcome])[0][0] == "succeeded"


def test_a_sibling_that_cannot_be_read_can_be_called_by_its_path() -> None:
    """That the called one is broken does not fail the caller (C1)."""
    text = "# 月次\n\n## フェーズ 1: 締める (呼び出す AOP: gone.md)\n"
    siblings = [Document("gone.md", refusing)]
    (outcome,) = compile_many([document("a.md", text)], memory_job(), siblings=lambda: siblings)
    assert values([outcome])[0][0] == "succeeded"


def test_a_document_with_calls_is_read_once() -> None:
    """A pipe has nothing more to give the second time."""
    read: list[int] = []

    def once() -> bytes:
        read.append(1)
        return CALLER.encode()

    list(compile_many([Document("a.md", once)], memory_job()))
    assert len(read) == 1


# ---------------------------------------------------------------------------------------------------- faults


def refusing() -> bytes:
    raise PermissionError(13, "Permission denied", "secret.md")


def troubling() -> bytes:
    raise Trouble("discover.missing", path="x.md")


@pytest.mark.parametrize("count", [3, MANY])
def test_a_document_that_cannot_be_read_is_broken_and_the_rest_is_compiled(tmp_path: Path, count: int) -> None:
    """With the error that reading raised."""
    documents = [*library(count), Document("secret.md", refusing), Document("x.md", troubling)]
    *compiled, secret, trouble = list(compile_many(documents, job(tmp_path), processes=2))
    assert len(values(compiled)) == count
    assert isinstance(secret, Broken) and isinstance(secret.error, PermissionError)
    assert isinstance(trouble, Broken) and isinstance(trouble.error, Trouble)
    assert trouble.error.arguments == {"path": "x.md"}


class Deadly:
    """Kills its process over one phase."""

    identity = GeneratorIdentity("template", "1")

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        if unit.title == "死ぬ":
            os.kill(os.getpid(), signal.SIGKILL)
        return TemplateGenerator().generate(unit, faults)


def test_a_process_that_is_killed_breaks_the_document_it_was_at(tmp_path: Path) -> None:
    """Only that one: those that it was given along with it are tried again by themselves."""
    documents = library()
    documents[MANY // 2] = document("bad.md", "# 悪い\n\n## フェーズ 1: 死ぬ (使う道具: なし)\n")
    outcomes = list(compile_many(documents, job(tmp_path, Deadly()), processes=2))
    broken = [(n, outcome.error) for n, outcome in enumerate(outcomes) if isinstance(outcome, Broken)]
    assert [n for n, _ in broken] == [MANY // 2]
    assert isinstance(broken[0][1], WorkerDied)
    assert broken[0][1].exitcode == -signal.SIGKILL


class Refusing:
    def __call__(self, compilation: Compilation) -> Json:
        raise OSError(28, "No space left on device", "build")


@pytest.mark.parametrize("count", [3, MANY])
def test_what_cannot_be_published_is_broken_and_not_remembered(tmp_path: Path, count: int) -> None:
    """The next compile publishes it."""
    documents = library(count)
    faulty = Job(partial(FileStore, tmp_path), CATALOG, TemplateGenerator(), Options(), show, Refusing())
    outcomes = list(compile_many(documents, faulty, processes=2))
    assert all(isinstance(outcome, Broken) and isinstance(outcome.error, OSError) for outcome in outcomes)
    good = Job(partial(FileStore, tmp_path), CATALOG, TemplateGenerator(), Options(), receipt_of, publish)
    assert receipts(list(compile_many(documents, good, processes=2))) == [["written", d.path] for d in documents]


class RefusingCallees:
    def __call__(self, compilation: Compilation) -> Json:
        if compilation.path.endswith("8.md"):
            raise OSError(28, "No space left on device", "build")
        return publish(compilation)


@pytest.mark.parametrize("count", [20, MANY])
def test_what_cannot_be_published_can_still_be_called(tmp_path: Path, count: int) -> None:
    """Its name is known: those that call it are not told that there is no such document."""
    documents = library(count)
    refusing_some = Job(
        partial(FileStore, tmp_path), CATALOG, TemplateGenerator(), Options(), show, publish=RefusingCallees()
    )
    outcomes = list(compile_many(documents, refusing_some, processes=2))
    assert [o.path for o in outcomes if isinstance(o, Broken)] == [f"d{n}.md" for n in range(8, count, 10)]
    assert {o.value[0] for o in outcomes if isinstance(o, Compiled)} == {"succeeded"}


def receipt_of(compilation: Compilation) -> Json:
    return compilation.receipt


def receipts(outcomes: Sequence[Outcome[Json]]) -> list[object]:
    return [list(o.value)[:2] for o in outcomes if isinstance(o, Compiled) and isinstance(o.value, list | tuple)]


def test_a_receipt_is_handed_to_the_next_publishing(tmp_path: Path) -> None:
    """Also after a failed compile in between, which published nothing new."""
    seen: list[Json] = []

    def noting(compilation: Compilation) -> Json:
        seen.append(compilation.receipt)
        return compilation.receipt if compilation.status == "failed" else [compilation.path, compilation.sha256[:4]]

    def compile_text(text: str) -> None:
        noted = Job(partial(FileStore, tmp_path), CATALOG, TemplateGenerator(), Options(), show, noting)
        list(compile_many([document("a.md", text)], noted))

    good, bad = "# 甲\n\n(使う道具: hitl)\n", "# 甲\n\n(使う道具: 無い)\n"
    for text in (good, good, bad, good, good):
        compile_text(text)
    receipt = seen[1]
    assert receipt is not None
    assert seen == [None, receipt, receipt, receipt, receipt]


def test_progress_counts_every_document_once(tmp_path: Path) -> None:
    """Broken ones, too."""
    told: list[tuple[int, int]] = []
    documents = [*library(), Document("secret.md", refusing)]
    list(compile_many(documents, job(tmp_path), processes=2, progress=lambda *at: told.append(at)))
    assert told == [(n + 1, MANY + 1) for n in range(MANY + 1)]


def test_closing_the_results_ends_the_processes(tmp_path: Path) -> None:
    """Nobody is left working."""
    outcomes = compile_many(library(), job(tmp_path, Slow()), processes=2)
    next(outcomes)
    assert len(multiprocessing.active_children()) == 2
    outcomes.close()
    assert multiprocessing.active_children() == []


class Slow:
    """Takes its time, as a model does."""

    identity = GeneratorIdentity("template", "1")

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        time.sleep(0.05)
        return TemplateGenerator().generate(unit, faults)


class Endless(Slow):
    """Says when it is at work, and does not come to an end."""

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        os.write(1, b"begun\n")
        time.sleep(600)
        return super().generate(unit, faults)


SCRIPT = """
import sys
from pathlib import Path
from tests.incremental.test_batch import Endless, compile_many, job, library
list(compile_many(library(), job(Path(sys.argv[1]), Endless()), processes=2))
"""


def test_an_interrupt_ends_the_whole_family(tmp_path: Path) -> None:
    """The parent and its processes are gone soon, and the store is whole."""
    root = Path(__file__).parents[2]
    started = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, tmp_path],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert started.stdout is not None
    for _ in range(2):  # each of them is at work
        assert started.stdout.readline() == "begun\n"
    os.killpg(started.pid, signal.SIGINT)
    _, errors = started.communicate(timeout=120)
    assert started.returncode != 0
    assert errors.count("KeyboardInterrupt") == 1, "one of them speaks, the others just end"
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)
    assert len(values(list(compile_many(library(), job(tmp_path), processes=2)))) == MANY


def test_several_compiles_at_once_share_a_store(tmp_path: Path) -> None:
    """Each comes to what it would come to alone."""
    root = Path(__file__).parents[2]
    script = SCRIPT.replace(", Endless()", "")
    running = [
        subprocess.Popen([sys.executable, "-c", script, tmp_path], cwd=root, stdout=subprocess.DEVNULL)
        for _ in range(3)
    ]
    assert [process.wait(timeout=300) for process in running] == [0, 0, 0]
    shared = values(list(compile_many(library(), job(tmp_path))))
    assert [ran for _, _, ran in shared] == [{}] * MANY
    alone = values(list(compile_many(library(), job(tmp_path / "alone"))))
    assert [made for _, made, _ in shared] == [made for _, made, _ in alone]


# ------------------------------------------------------------------------------------------------------ plan


def test_a_plan_leaves_nothing_behind(tmp_path: Path) -> None:
    """What it says is what the next compile does, and it says it as often as it is asked."""
    siblings = [document("shime.md", "# 締め処理\n")]
    caller = document("a.md", CALLER)
    for _ in range(2):
        planned = plan_one(caller, job(tmp_path), siblings=lambda: siblings)
        assert what_ran(planned) == {"parse": "new", "resolve": "new", "link": "new", "verify": "new"}
    (outcome,) = compile_many([caller], job(tmp_path), siblings=lambda: siblings)
    assert values([outcome])[0][2] == what_ran(planned)
    assert what_ran(plan_one(caller, job(tmp_path), siblings=lambda: siblings)) == {}
