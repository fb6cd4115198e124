"""Starting up: most checks consist of it (issue: at most 1.6 times what importing three libraries takes)."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from conftest import GOOD, command, write

LIBRARIES = [sys.executable, "-c", "import pydantic, markdown_it, typer"]
RUNS = 7
LIMIT = 1.6


def processor_seconds(line: list[str], environment: dict[str, str], folder: Path) -> float:
    """What a process takes of a processor: other processes change it less than time by the clock."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_check_starts_fast(here: Path, environment: dict[str, str]) -> None:
    """One small document with the shipped catalog, in an installation that has been used once."""
    write("a.md", GOOD)
    check = command("check", "a.md")
    for line in (LIBRARIES, check):
        processor_seconds(line, environment, here)  # writes bytecode, and the compiled catalog
    pairs = [
        (processor_seconds(LIBRARIES, environment, here), processor_seconds(check, environment, here))
        for _ in range(RUNS)
    ]
    # The least of each: what else the machine does only adds to them.
    libraries, ours = (min(times) for times in zip(*pairs, strict=True))
    assert ours <= LIMIT * libraries
