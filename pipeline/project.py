"""The documents that can call each other (C1), as the resolve stage asks about them.

Answers are recorded reads, like the catalog's (`pipeline.incremental.reads`).
"""

from __future__ import annotations

import hashlib
import json
import posixpath
import unicodedata
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

MAX_SUGGESTIONS = 5
CLOSE = 60.0
"""Similarity in percent from which a name is worth suggesting: one wrong character in four gives 75."""


class ProjectDocument(NamedTuple):
    """`path`: POSIX, relative to the project's root; `calls`: the targets of its call declarations as written."""

    path: str
    name: str
    calls: tuple[str, ...]


@lru_cache(maxsize=256)
def stem(path: str) -> str:
    """The file's name without its ending: what a document without a name is called (F5). Cached: a compile asks for it
    several times."""
    return posixpath.splitext(posixpath.basename(path))[0]


class ProjectView(Protocol):
    @property
    def digest(self) -> str:
        """Of all names, paths and calls: equal digests answer every question equally."""
        ...

    def find(self, target: str, caller: str) -> tuple[ProjectDocument, ...]:
        """The documents that `target` may mean: by name, or by path relative to the document at path `caller`.

        Both compared after NFKC, trimmed. Sorted by path; empty: unknown; several: ambiguous.
        """
        ...

    def suggest(self, target: str) -> tuple[str, ...]:
        """Names of documents close to `target`, best first, at most five."""
        ...

    def cycle(self, target: ProjectDocument, caller: str) -> tuple[str, ...]:
        """The names along the cycle that a call of `target` from `caller` leads into; empty where there is none.

        They begin with the caller's; the repeated one is at both ends of its loop (`受付 → 審査 → 再審査 → 審査`).
        """
        ...


def _normal(text: str) -> str:
    """The form in which names, paths and targets are compared (C1)."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFKC", text).strip()


def _relative(target: str, caller: str) -> str | None:
    """The path that `target` (normalised) means in the document at `caller`; None for an absolute one.

    It may climb above the caller's folder, even above the current one: only a path of the project's is ever found.
    """
    if not target or target.startswith("/"):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(_normal(caller)), target))


class Project:
    """A project of documents known beforehand. Immutable; indexes are built when the first question needs them."""

    def __init__(self, documents: Iterable[ProjectDocument]) -> None:
        """`documents`: each path once. The order does not matter."""
        self._documents = tuple(sorted(documents, key=lambda document: document.path))

    @property
    def documents(self) -> tuple[ProjectDocument, ...]:
        """Sorted by path."""
        return self._documents

    @cached_property
    def digest(self) -> str:
        rows = [(document.path, document.name, document.calls) for document in self._documents]
        return hashlib.sha256(json.dumps(rows, ensure_ascii=True, separators=(",", ":")).encode()).hexdigest()

    @cached_property
    def _by_name(self) -> dict[str, list[ProjectDocument]]:
        return _index((_normal(document.name), document) for document in self._documents)

    @cached_property
    def _by_path(self) -> dict[str, list[ProjectDocument]]:
        return _index((posixpath.normpath(_normal(document.path)), document) for document in self._documents)

    @cached_property
    def _at(self) -> dict[str, ProjectDocument]:
        return {document.path: document for document in self._documents}

    def find(self, target: str, caller: str) -> tuple[ProjectDocument, ...]:
        wanted = _normal(target)
        if not wanted:
            return ()
        found = {document.path: document for document in self._by_name.get(wanted, ())}
        path = _relative(wanted, caller)
        if path is not None:
            found.update((document.path, document) for document in self._by_path.get(path, ()))
        return tuple(found[key] for key in sorted(found))

    def suggest(self, target: str) -> tuple[str, ...]:
        # rapidfuzz is loaded only for a document with a call that leads nowhere: start-up time
        from rapidfuzz import fuzz, process  # noqa: PLC0415 - see above

        wanted = _normal(target).casefold()
        if not wanted:
            return ()
        spellings = self._spellings
        close = process.extract(wanted, list(spellings), scorer=fuzz.ratio, score_cutoff=CLOSE, limit=None)
        ranked = {spelling: score for spelling, score, _ in close}
        # A part of a name (`締め` of `月次の締め処理`) is far from it letter by letter, yet what was meant.
        for spelling in spellings:
            if len(wanted) > 1 and len(spelling) > 1 and (wanted in spelling or spelling in wanted):
                ranked[spelling] = max(CLOSE, ranked.get(spelling, 0.0))
        best = sorted(ranked, key=lambda spelling: (-ranked[spelling], spelling))
        return tuple(dict.fromkeys(spellings[spelling] for spelling in best))[:MAX_SUGGESTIONS]

    @cached_property
    def _spellings(self) -> dict[str, str]:
        """How each document may be called, casefolded, and its name."""
        spellings: dict[str, str] = {}
        for document in self._documents:
            path = document.path
            for spelling in (document.name, path, posixpath.basename(path), stem(path)):
                spellings.setdefault(_normal(spelling).casefold(), document.name)
        return spellings

    @cached_property
    def _next_in_cycle(self) -> dict[str, str]:
        """For each document (by path) that a cycle can be reached from, its first callee of that sort.

        Documents without a callee left are peeled off until none is; whoever remains leads into a cycle. Linear.
        """
        callees = {document.path: self._callees(document) for document in self._documents}
        callers: dict[str, list[str]] = {path: [] for path in callees}
        for path, called in callees.items():
            for callee in called:
                callers[callee].append(path)
        open_calls = {path: len(called) for path, called in callees.items()}
        done = [path for path, count in open_calls.items() if not count]
        for path in done:
            for caller in callers[path]:
                open_calls[caller] -= 1
                if not open_calls[caller]:
                    done.append(caller)
        remaining = open_calls.keys() - set(done)
        return {path: next(callee for callee in callees[path] if callee in remaining) for path in remaining}

    def _callees(self, document: ProjectDocument) -> list[str]:
        """The paths of the documents that its calls lead to; a call that is unknown or ambiguous leads nowhere."""
        found = (self.find(target, document.path) for target in document.calls)
        return list(dict.fromkeys(documents[0].path for documents in found if len(documents) == 1))

    def cycle(self, target: ProjectDocument, caller: str) -> tuple[str, ...]:
        walked = {caller: None}  # a dict for its order
        path: str | None = target.path
        while path is not None and path not in walked:
            walked[path] = None
            path = self._next_in_cycle.get(path)
        if path is None:
            return ()
        return tuple(self._name(step) for step in (*walked, path))

    def _name(self, path: str) -> str:
        return self._at[path].name if path in self._at else stem(path)


class LateProject:
    """A ProjectView that is loaded when it is first asked: a document without calls asks nothing of it."""

    def __init__(self, load: Callable[[], Project]) -> None:
        """Asking raises what `load` does."""
        self._load = load

    @cached_property
    def _project(self) -> Project:
        return self._load()

    @property
    def documents(self) -> tuple[ProjectDocument, ...]:
        """Sorted by path."""
        return self._project.documents

    @property
    def digest(self) -> str:
        return self._project.digest

    def find(self, target: str, caller: str) -> tuple[ProjectDocument, ...]:
        return self._project.find(target, caller)

    def suggest(self, target: str) -> tuple[str, ...]:
        return self._project.suggest(target)

    def cycle(self, target: ProjectDocument, caller: str) -> tuple[str, ...]:
        return self._project.cycle(target, caller)


def _index(entries: Iterable[tuple[str, ProjectDocument]]) -> dict[str, list[ProjectDocument]]:
    index: dict[str, list[ProjectDocument]] = {}
    for key, document in entries:
        index.setdefault(key, []).append(document)
    return index
