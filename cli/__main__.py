"""`python -m cli` is `aop`."""

from __future__ import annotations

from cli.main import run

run()
