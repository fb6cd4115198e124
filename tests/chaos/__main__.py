"""`python -m tests.chaos [--seed N]`: one run with everything; the tally, and status 1 where anything is wrong."""

from __future__ import annotations

import argparse
import secrets
import sys
from dataclasses import replace
from pathlib import Path
from typing import Final

from .plan import OVER_S, WITHIN_S, Plan
from .run import run

_SEEDS: Final = 1_000_000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(_SEEDS))
    parser.add_argument("--saves", type=int, default=2_000)
    parser.add_argument("--documents", type=int, default=300)
    parser.add_argument("--over", type=float, default=OVER_S, help="seconds in which saves and faults come")
    parser.add_argument("--within", type=float, default=WITHIN_S, help="seconds for all of it")
    parser.add_argument("--off", choices=("", "reconciler", "compare", "idempotency"), default="")
    parser.add_argument("--keep", type=Path, help="a folder for logs and data")
    given = parser.parse_args()
    plan = Plan(given.seed, given.saves, given.documents, given.over, given.within, off=given.off)
    plan = replace(plan, at_fault=given.off in ("compare", "idempotency"))
    sys.stdout.write(f"chaos: seed {plan.seed}\n")
    verdict = run(plan, lambda line: print(line, file=sys.stderr, flush=True), given.keep)  # noqa: T201
    sys.stdout.write(f"{verdict.text()}\n")
    return 1 if verdict.faults else 0


if __name__ == "__main__":
    sys.exit(main())
