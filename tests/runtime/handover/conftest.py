"""Fixtures of the box."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Sockets have short paths, and those of pytest's own folders grow with the names of users and tests."""
    with tempfile.TemporaryDirectory(prefix="aop-t-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def box_folder(short_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the boxes of this test lie, and nothing else."""
    monkeypatch.setattr(tempfile, "tempdir", str(short_folder))
    return short_folder
