"""The catalogs that come with the program."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.lint.lint import lint_bytes
from catalog.load import SHIPPED

FILES = sorted(SHIPPED.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_shipped_catalog_is_structurally_valid(file: Path) -> None:
    """What vendors publish is copied as it is; a schema that refuses its own default is not shipped."""
    report, given = lint_bytes(file.read_bytes(), file.name)
    faults = [finding for finding in report.findings if finding.rule.level == "structural"]
    places = given.lines(finding.path for finding in faults)
    assert [f"{file.name}:{places[fault.path]}: {fault.message('en')}" for fault in faults] == []
    assert report.structurally_valid
