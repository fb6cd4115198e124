"""What it costs to see what a run would do: `aop run --dry-run` of an example beside the libraries that it cannot do
without, in one run."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from bench.timing import milliseconds, process

ROOT = Path(__file__).parents[1]
AOP = Path(sys.executable).with_name("aop")
LIBRARIES = "pydantic, markdown_it, typer, yaml"
RUNS = 7


def main() -> None:
    document = ROOT / "examples" / "monthly-close.md"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        libraries = process([sys.executable, "-c", f"import {LIBRARIES}"], folder, RUNS)
        dry = [AOP, "run", document, "--dry-run"]
        measured = {"first time": process(dry, folder, 1), "again": process(dry, folder, RUNS)}
    print(f"aop run --dry-run of a document with nine phases, beside the import of {LIBRARIES}")
    print(f"  {'imports':<12} {milliseconds(libraries.clock):>8}")
    for what, took in measured.items():
        print(f"  {what:<12} {milliseconds(took.clock):>8}  {took.clock / libraries.clock:5.2f} x")


if __name__ == "__main__":
    main()
