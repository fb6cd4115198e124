"""The documents that can call each other (C1), as the resolve stage asks about them. Answers are recorded reads, like the catalog's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ProjectDocument:
    """`path`: POSIX, relative to the project's root; `calls`: the targets of its call declarations as written."""

    path: str
    name: str
    calls: tuple[str, ...]


class ProjectView(Protocol):
    @property
    def digest(self) -> str:
        """Of all names, paths and calls: equal digests answer every question equally."""
        ...

    def find(self, target: str, caller: str) -> tuple[ProjectDocument, ...]:
        """The documents that `target` may mean: by name, or by path relative to the document at path `caller`; NFKC, trimmed.
        None: unknown. Several: ambiguous. Sorted by path."""
        ...

    def suggest(self, target: str) -> tuple[str, ...]:
        """Names of documents close to `target`, best first, at most five."""
        ...

    def cycle(self, target: ProjectDocument, caller: str) -> tuple[str, ...]:
        """The names along the cycle that a call of `target` from `caller` leads into, the repeated one at both ends of its loop
        (`受付 → 審査 → 再審査 → 審査`), beginning with the caller's; empty where there is none."""
        ...
