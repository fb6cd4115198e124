"""Given a server that was started in somebody's folder, when a text is checked, then no code of that folder runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from .mcp_client import outcome
from .running import Running


def test_children_import_nothing_from_where_the_server_was_started(
    run: Callable[..., Running], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python would look there first for what a child imports, such as a module named like one of its own."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    mark = tmp_path / "it-ran"
    for name in ("pickle", "anyio"):
        (tmp_path / f"{name}.py").write_text(f"from pathlib import Path\n\nPath({str(mark)!r}).touch()\n")
    monkeypatch.chdir(tmp_path)
    running = run()
    found, failed = outcome(running, running.token(), "check_aop", "2026-07-28", text="# 準備\n")
    assert not failed, found
    assert not mark.exists()
