"""The language by example: the `*.md` beside this file. `AOP_UPDATE_GOLDEN=1` writes what is found as what is expected:
read every line of the change before you keep it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.language.golden import HERE, Case, cases, read_lines, summary

CASES = [(file, case) for file in sorted(HERE.glob("*.md")) for case in cases(read_lines(file))]


@pytest.mark.parametrize(("file", "case"), [pytest.param(file, case, id=case.title) for file, case in CASES])
def test_golden(file: Path, case: Case) -> None:
    """A document gives exactly these diagnostics, tools, fences and hand-overs."""
    found = summary(case)
    if os.environ.get("AOP_UPDATE_GOLDEN") and found != case.expected:
        _write(file, case.title, found)
    assert found == case.expected


def test_titles_are_unique() -> None:
    """A case is named by its title."""
    titles = [case.title for _, case in CASES]
    assert len(set(titles)) == len(titles)


def _write(file: Path, title: str, found: str) -> None:
    lines = read_lines(file)
    case = next(case for case in cases(lines) if case.title == title)
    lines[case.expect] = [found]
    file.write_text("".join(lines), encoding="utf-8")
