"""How much is looked at. Larger inputs get an answer as well: that they are too large."""

from __future__ import annotations

from typing import Final

from catalog import errors, nodes

MAX_BYTES: Final = errors.MAX_BYTES
MAX_DEPTH: Final = nodes.MAX_DEPTH
MAX_VALUES: Final = nodes.MAX_NODES

MAX_FINDINGS: Final = 2_000
"""Findings that are shown; the verdict counts all of them."""
MAX_KEPT: Final = 20_000
"""Findings that are put in order."""
