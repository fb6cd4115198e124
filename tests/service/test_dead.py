"""Given an installation in trouble, when an administrator looks and acts, then each command says and does just that."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from redis import Redis

from cli.administering import in_words
from cli.commands import admin_audit, admin_dead, admin_gc, admin_reindex
from cli.exits import OK, TROUBLE
from cli.trouble import OutputFault, Trouble
from pipeline.diagnostics.lang import Lang
from pipeline.stores.protocol import Store
from tests.service.celery_messages import take_all
from tests.service.saving import record, settle, wipe
from workers.archive import Archive
from workers.audit import COMMAND_LINE, Audit
from workers.connections import open_ledger, open_store
from workers.identifiers import document_hash
from workers.intake import Intake, open_installation
from workers.ledger.ledger import Ledger
from workers.ledger.records import Lease, LedgerCorrupt, LedgerLost, LedgerVersion, Message
from workers.records import RecordCorrupt
from workers.settings import Settings

LANGS: tuple[Lang, ...] = ("ja", "en")


@pytest.fixture
def installation(
    service_settings: Settings, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[Ledger, Archive]]:
    """One whose settings are in the environment, as the commands read them."""
    for name in service_settings.model_fields_set:
        value = getattr(service_settings, name)
        text = value.get_secret_value() if hasattr(value, "get_secret_value") else str(value)
        monkeypatch.setenv(f"AOP_{name.upper()}", text)
    store: Store
    with open_store(service_settings) as store:
        ledger, archive = open_ledger(service_settings, redis), Archive(store)
        open_installation(ledger, archive)
        yield ledger, archive


def die(ledger: Ledger, archive: Archive, document: str, cause: str = "out of memory") -> str:
    """A save whose second stage used up its attempts."""
    job = Intake(ledger, archive).accept(document, data=b"x", source="s", revision="7").job
    ledger.claim()
    lease = ledger.begin(job, "parse", "w")
    assert isinstance(lease, Lease)
    ledger.advance(lease, "resolve", "{}")
    while True:
        lease = ledger.begin(job, "resolve", "w")
        assert isinstance(lease, Lease)
        if ledger.release(lease, cause, -1):
            break
        ledger.reconcile()
    record(ledger, archive)
    return job


def test_dead_letters_are_listed_and_shown(
    installation: tuple[Ledger, Archive], capsys: pytest.CaptureFixture[str]
) -> None:
    """In words in both languages, and as JSON of one form; what a document or a fault says cannot move the cursor."""
    ledger, archive = installation
    for lang in LANGS:
        assert admin_dead.run_list(lang, as_json=False) == OK
    none = capsys.readouterr().out.splitlines()
    assert len(set(none)) == 2
    first, second = die(ledger, archive, "a"), die(ledger, archive, "部/手順", "boom \x1b[2J")
    for lang in LANGS:
        admin_dead.run_list(lang, as_json=False)
        admin_dead.run_show(second, lang, as_json=False)
    text = capsys.readouterr().out
    assert "\x1b" not in text
    assert text.count(first) == 2
    assert text.count("部/手順 #1") == 4
    assert "attempt-failed" in text
    admin_dead.run_list("ja", as_json=True)
    listed = json.loads(capsys.readouterr().out)
    assert [(entry["job_id"], entry["stage"], entry["attempts"], entry["total_attempts"]) for entry in listed] == [
        (second, "resolve", 3, 4),
        (first, "resolve", 3, 4),
    ]
    admin_dead.run_show(first, "en", as_json=True)
    shown = json.loads(capsys.readouterr().out)
    assert [event["event"] for event in shown["events"]][-1] == "dead"
    assert {name: value for name, value in shown.items() if name != "events"} == listed[1]


def test_a_dead_job_is_tried_again_or_given_up(
    installation: tuple[Ledger, Archive], capsys: pytest.CaptureFixture[str]
) -> None:
    """In ledger and store, once, and the audit log knows of both."""
    ledger, archive = installation
    jobs = [die(ledger, archive, name) for name in ("a", "b", "c", "d")]
    assert admin_dead.run_drop(jobs[:1], "en") == OK
    assert admin_dead.run_replay(jobs[1:2], "en") == OK
    assert set(ledger.dead()) == set(archive.dead_jobs()) == set(jobs[2:])
    for run in (admin_dead.run_drop, admin_dead.run_replay):
        with pytest.raises(Trouble, match="dead-unknown"):
            run(jobs[:1], "ja")
    for nobody in ("nobody", "0" * 27, "\udcff\n", "../x"):
        with pytest.raises(Trouble, match="dead-unknown"):
            admin_dead.run_show(nobody, "ja", as_json=False)
    assert admin_dead.run_replay([], "ja") == OK
    assert set(ledger.dead()) == set(jobs[2:])
    assert admin_dead.run_replay([], "ja", every=True) == OK
    assert ledger.dead() == archive.dead_jobs() == []
    settle(ledger, archive)
    for job in jobs[1:]:
        found = ledger.job(job)
        assert found is not None
        assert found.stage in ("resolve", "verify")
    capsys.readouterr()
    assert admin_audit.run("en", as_json=True) == OK
    entries = json.loads(capsys.readouterr().out)
    assert sorted((entry["action"], entry["target"]) for entry in entries) == sorted(
        [("dead-letter.drop", jobs[0]), *(("dead-letter.replay", job) for job in jobs[1:])]
    )
    for lang in LANGS:
        admin_audit.run(lang, as_json=False)
    assert capsys.readouterr().out.count("out of memory") == 8


def test_the_audit_log_takes_names_that_are_no_text(installation: tuple[Ledger, Archive]) -> None:
    """A folder's name may be any bytes."""
    _, archive = installation
    audit = Audit(archive.store)
    audit.record(COMMAND_LINE, "store.gc", "file:\udcff/a")
    assert next(audit.entries()).target == "file:?/a"


def test_replayed_jobs_are_sent_at_once(
    installation: tuple[Ledger, Archive], redis: Redis, service_settings: Settings
) -> None:
    """To the queue of their stage; nobody waits for the reconciler."""
    job = die(*installation, "a")
    take_all(redis, service_settings.redis_prefix)
    admin_dead.run_replay([job], "en")
    assert take_all(redis, service_settings.redis_prefix) == [Message(job, "resolve", "interactive")]


def test_reindex_says_what_it_found(
    installation: tuple[Ledger, Archive], redis: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    """On a living ledger, a lost one, and one whose store has a record that cannot be read."""
    ledger, archive = installation
    Intake(ledger, archive).accept("a", data=b"x", source="s")
    Intake(ledger, archive).accept("b", data=b"x", source="s")
    assert admin_reindex.run("en") == OK
    assert "alive" in capsys.readouterr().out
    wipe(redis, ledger)
    assert admin_reindex.run("ja") == OK
    assert "文書 2 件、やり直すジョブ 2 件" in capsys.readouterr().out
    name = f"save/{document_hash('b')}/000000000001"
    archive.store.set_pointer(name, b"{", archive.store.get_pointer(name))
    wipe(redis, ledger)
    assert admin_reindex.run("en") == TROUBLE
    printed = capsys.readouterr()
    assert "1 jobs to run again" in printed.out
    assert name in printed.err
    assert len(ledger.claim()) == 1


def test_collecting_says_what_went(installation: tuple[Ledger, Archive], capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing, of what has just come."""
    ledger, archive = installation
    Intake(ledger, archive).accept("a", data=b"x", source="s")
    for lang in LANGS:
        assert admin_gc.run(lang, newest=1, days=0) == OK
    english, japanese = reversed(capsys.readouterr().out.splitlines())
    assert "Of 1 documents: 0 old saves" in english
    assert "文書 1 件を調べ" in japanese


def test_a_lost_ledger_is_said_and_what_helps(
    installation: tuple[Ledger, Archive], redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By every command that needs one; as a Redis that does not answer is."""
    ledger, _ = installation
    wipe(redis, ledger)
    for run in (lambda: admin_dead.run_list("en", as_json=False), lambda: admin_gc.run("en")):
        with pytest.raises(OutputFault) as raised:
            run()
        assert "aop admin reindex" in raised.value.english
        assert "aop admin reindex" in raised.value.japanese
    monkeypatch.setenv("AOP_REDIS_URL", "redis://127.0.0.1:1/0")
    with pytest.raises(OutputFault, match="AOP_REDIS_URL"):
        admin_dead.run_list("en", as_json=False)


FAULTS = (LedgerLost("p"), LedgerVersion("p"), LedgerCorrupt("p"), RecordCorrupt("n", "p"))


@pytest.mark.parametrize("error", FAULTS, ids=lambda error: type(error).__name__)
def test_every_fault_has_words_in_both_languages(error: Exception) -> None:
    """With its detail in them."""
    fault = in_words(error)
    assert fault.japanese != fault.english
    assert str(error) in fault.japanese
    assert str(error) in fault.english
