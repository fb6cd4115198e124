"""Given a whole installation, when everything that can break does, then nothing is lost and nothing is wrong; and a run
without what keeps it so sees that."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path

import pytest

from .plan import OVER_S, WITHIN_S, Off, Plan
from .run import Verdict, run

pytestmark = pytest.mark.chaos

Ran = Callable[[Plan], Verdict]


@pytest.fixture
def seed() -> int:
    """`CHAOS_SEED`, or another one each time; the tally says which."""
    given = os.environ.get("CHAOS_SEED")
    return int(given) if given else secrets.randbelow(1_000_000)


@pytest.fixture
def ran(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> Ran:
    """Runs, and prints the tally past pytest. `CHAOS_TIMES`: so many times as long, where others work, too."""

    def made(plan: Plan) -> Verdict:
        verdict = run(plan, lambda _line: None, tmp_path)
        with capfd.disabled():
            print(f"\n{verdict.text()}")  # noqa: T201 - the tally is what the run is for
        return verdict

    return made


def plan(seed: int, off: Off = "", *, at_fault: bool = False) -> Plan:
    times = float(os.environ.get("CHAOS_TIMES", "1"))
    return Plan(seed, over_s=OVER_S * times, within_s=WITHIN_S * times, off=off, at_fault=at_fault)


def test_nothing_is_lost_and_nothing_is_wrong(ran: Ran, seed: int) -> None:
    """2,000 saves of 300 documents from two sources; every one has its outcome, and the newest is what is published."""
    assert ran(plan(seed)).faults == []


def test_it_sees_a_service_without_reconciler(ran: Ran, seed: int) -> None:
    """What was lost on the way stays lost: accepted saves have no outcome."""
    faults = ran(plan(seed, "reconciler")).faults
    assert any("has no outcome" in fault for fault in faults), faults


def test_it_sees_pointers_that_move_without_compare_and_set(ran: Ran, seed: int) -> None:
    """An older compile that was slow replaces a newer one."""
    faults = ran(plan(seed, "compare", at_fault=True)).faults
    assert any("an older save replaced a newer one" in fault for fault in faults), faults


def test_it_sees_a_service_without_idempotency(ran: Ran, seed: int) -> None:
    """A message that is sent again is a second save, with a second job."""
    faults = ran(plan(seed, "idempotency", at_fault=True)).faults
    assert any("one message, several jobs" in fault for fault in faults), faults
