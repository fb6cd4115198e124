"""The entry of `diagnostics` in a result (O2)."""

from __future__ import annotations

import json

from pipeline.diagnostics.json import diagnostic_dict
from pipeline.places import Span

from .samples import at


def test_the_keys_and_their_order() -> None:
    """O2's keys in O2's order; suggestions are a list, as written, and null is null."""
    entry = diagnostic_dict(at(Span(3, 14, 3, 19)))
    assert list(entry) == [
        *("code", "name", "severity", "message", "help", "suggestions"),
        *("line", "column", "end_line", "end_column", "phase"),
    ]
    assert entry["suggestions"] == ["freee"]
    assert (entry["line"], entry["column"], entry["end_line"], entry["end_column"]) == (3, 14, 3, 19)
    unplaced = diagnostic_dict(at(None, name="document-unreadable"))
    assert json.loads(json.dumps(unplaced)) == unplaced
    assert unplaced["line"] is None
