"""What a stage's work comes to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from workers.context import Context
from workers.handoff import Note
from workers.ledger.records import Lease, Row, Stage
from workers.publishing import Ending


@dataclass(frozen=True, slots=True)
class Next:
    """`stage` is to run, with what `note` names. `row`: of the document in the project, None where it is there."""

    stage: Stage
    note: Note
    row: Row | None = None


Step: TypeAlias = "Next | Ending"

Run: TypeAlias = Callable[[Context, Lease], Step]
"""A stage. May raise whatever its surroundings do (`workers.faults`)."""
