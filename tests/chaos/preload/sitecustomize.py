"""What a process of the run is made to do wrong, from the outside: Python loads this before the program.

`CHAOS_CLOCK_S`: by so much its clock is off. `CHAOS_OFF`: what is switched off, so that the run can be shown to see it:
`reconciler`, `compare` (what is published moves wherever it is pushed) or `idempotency`.
"""

from __future__ import annotations

import os
import time


def shift_clock(by_s: float) -> None:
    """As all of our code reads it; `datetime` keeps the machine's."""
    now, now_ns = time.time, time.time_ns
    time.time = lambda: now() + by_s
    time.time_ns = lambda: now_ns() + int(by_s * 1e9)


def without_reconciler() -> None:
    from workers.ledger.ledger import Ledger

    Ledger.reconcile = lambda _self, most=100: []  # type: ignore[method-assign]


def without_compare() -> None:
    from workers import archive
    from workers.records import Published

    def publish(self: archive.Archive, published: Published) -> bool:
        name = archive._published_name(published.document)
        while not self.store.set_pointer(name, published.to_bytes(), self.store.get_pointer(name)):
            pass
        return True

    archive.Archive.publish = publish  # type: ignore[method-assign]


def without_idempotency() -> None:
    from workers import intake

    accept = intake.Intake.accept

    def forgetful(self: intake.Intake, document: str, **given: object) -> object:
        return accept(self, document, **{**given, "idempotency_key": "", "revision": "", "rank": ""})  # type: ignore[arg-type]

    intake.Intake.accept = forgetful  # type: ignore[method-assign, assignment]


_OFF = {"reconciler": without_reconciler, "compare": without_compare, "idempotency": without_idempotency}

if "CHAOS_CLOCK_S" in os.environ:
    shift_clock(float(os.environ["CHAOS_CLOCK_S"]))
if os.environ.get("CHAOS_OFF"):
    _OFF[os.environ["CHAOS_OFF"]]()
