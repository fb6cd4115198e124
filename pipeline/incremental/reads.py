"""The recorded reads of resolve: every question with its answer, misses and suggestions included (R1).

A trace holds while every question has the answer it had; equal digests of the whole catalog and the whole project
answer that at once. Answers are JSON values, so that what is recorded and what is asked again compare as they are;
a project's are digests, since a called document may have any number of calls, and so may its callers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from catalog.fold import fold
from catalog.model import Tool
from catalog.view import CatalogView
from pipeline.incremental.keys import Json, Packed, encode
from pipeline.project import ProjectDocument, ProjectView

if TYPE_CHECKING:
    from catalog.lock import LockedTool
    from pipeline.artifacts import ParsedDocument
    from pipeline.resolution.items import ItemReading

Question: TypeAlias = tuple[Json, ...]
"""A kind and its arguments: `("tool", "slack")`."""

PROJECT_KINDS = frozenset({"find", "suggest", "cycle"})
"""The kinds of questions that a project answers; all others are the catalog's."""


class Reads(NamedTuple):
    """What one run asked. `catalog` and `project` are the digests of the whole, "" where nothing was asked of it.

    `connectors`: digest of the names that were given for the mention question, "" where it was not asked; `mentioned`
    the names among them that occur in the document. Adding a connector that no text names therefore changes nothing.
    """

    catalog: str
    project: str
    connectors: str
    mentioned: tuple[str, ...]
    answers: tuple[tuple[Question, Json], ...]


def reads_from_json(value: Packed) -> Reads:
    """The reads that were written as that."""
    catalog, project, connectors, mentioned, answers = value
    questions = tuple((_question(question), answer) for question, answer in answers)
    return Reads(catalog, project, connectors, tuple(mentioned), questions)


def _question(value: Sequence[Json]) -> Question:
    return tuple(tuple(part) if isinstance(part, list) else part for part in value)


class Change(NamedTuple):
    """A recorded question whose answer is another one now."""

    question: Question
    before: Json
    now: Json


def mentionable_text(parsed: ParsedDocument) -> str:
    """The text in which a connector's name is a mention (T9), folded as names are; one piece a line."""
    sections = (parsed.outside, *parsed.phases)
    return "\n".join(fold(piece) for section in sections for piece in section.mentionable)


def occurring(names: tuple[str, ...], folded: str) -> tuple[str, ...]:
    """The names that occur in the folded text, whole words or not: all that could be mentioned, and a few more."""
    return tuple(name for name in names if fold(name) in folded) if folded else ()


class Inquiry:
    """What a catalog and a project answer, each question asked once: shared by all documents of a compile.

    `lookups`: by their words, the items that were looked up in the catalog, and what that asked (`lookups`).
    """

    def __init__(self, catalog: CatalogView, project: ProjectView) -> None:
        self.catalog = catalog
        self.project = project
        self.lookups: dict[tuple[object, ...], tuple[ItemReading, dict[Question, Json]]] = {}
        self._answers: dict[Question, Json] = {}
        self._connectors: tuple[tuple[str, ...], str] | None = None
        self._documents: dict[str, tuple[ProjectDocument, str]] = {}

    @property
    def connectors(self) -> tuple[tuple[str, ...], str]:
        """The names of all connectors and their digest."""
        if self._connectors is None:
            names = self.catalog.connectors()
            self._connectors = names, _digest(names)
        return self._connectors

    def answer(self, question: Question) -> Json:
        """The answer now. A question of a kind that this version does not know has an answer that no record holds."""
        if question not in self._answers:
            self._answers[question] = self._ask(question)
        return self._answers[question]

    def _ask(self, question: Question) -> Json:
        match question:
            case ("tool", str(name)):
                return tool_answer(self.catalog.tool(name))
            case ("lock", str(name)):
                return locked_answer(self.catalog.locked(name))
            case ("word", str(word)):
                return self.catalog.known_word(word)
            case ("tools", str(name), str() | None as category):
                return list(self.catalog.suggest_tools(name, category))
            case ("categories", str(name), str(category)):
                tool = self.catalog.tool(name)
                return None if tool is None else list(self.catalog.suggest_categories(tool, category))
            case ("receivers", bool(read_only)):
                return list(self.catalog.receivers(read_only))
            case ("find", str(target), str(caller)):
                return self.found_answer(self.project.find(target, caller))
            case ("suggest", str(target)):
                return names_answer(self.project.suggest(target))
            case ("cycle", str(path), str(name), str(caller)):
                # Which calls lead on from there is the project's to know, and not asked with the question.
                return names_answer(self.project.cycle(ProjectDocument(path, name, ()), caller))
            case _:
                return ["unknown question"]

    def found_answer(self, documents: tuple[ProjectDocument, ...]) -> Json:
        """All that the documents are known by: a digest, "" for none."""
        return _digest([self._document(document) for document in documents]) if documents else ""

    def _document(self, document: ProjectDocument) -> str:
        """A document's digest; a library may call one with many calls from each of its documents."""
        known = self._documents.get(document.path)
        if known is None or known[0] is not document:
            digest = _digest((document.path, document.name, document.calls))
            known = self._documents[document.path] = document, digest
        return known[1]

    def changes(self, reads: Reads, folded_text: Callable[[], str]) -> list[Change]:
        """The recorded questions with another answer now; empty while the trace holds.

        `folded_text` gives the document's `mentionable_text`; it is asked for only when the connectors are others.
        """
        changed: list[Change] = []
        same_catalog = reads.catalog in ("", self.catalog.digest)
        same_project = reads.project in ("", self.project.digest)
        if same_catalog and same_project:
            return changed
        for question, before in reads.answers:
            if same_project if question[0] in PROJECT_KINDS else same_catalog:
                continue
            now = self.answer(question)
            if now != before:
                changed.append(Change(question, before, now))
        if reads.connectors and not same_catalog:
            names, digest = self.connectors
            if digest != reads.connectors:
                mentioned = occurring(names, folded_text())
                for name in sorted({*mentioned} ^ {*reads.mentioned}):
                    changed.append(Change(("mention", name), name in reads.mentioned, name in mentioned))
        return changed


class Inquiries:
    """One for each project, so that a question is asked once for all documents."""

    def __init__(self, catalog: CatalogView) -> None:
        self._catalog = catalog
        self._last: list[Inquiry] = []

    def of(self, project: ProjectView) -> Inquiry:
        for inquiry in self._last:
            if inquiry.project is project:
                return inquiry
        self._last.append(Inquiry(self._catalog, project))
        del self._last[:-2]
        return self._last[-1]


def tool_answer(tool: Tool | None) -> Json:
    """All of a tool in one answer: its digest covers whatever a stage may look at in it."""
    return None if tool is None else tool.digest


def locked_answer(locked: LockedTool | None) -> Json:
    """All that the lock says of a tool, and its policy."""
    return None if locked is None else locked.digest


def names_answer(names: Sequence[str]) -> Json:
    """The names of documents, in their order: a digest, "" for none."""
    return _digest(names) if names else ""


def _digest(value: Json) -> str:
    return hashlib.sha256(encode(value).encode("ascii")).hexdigest()


class Recorder:
    """Hands a catalog and a project to one run of resolve and writes down what it asks of them."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.catalog = RecordingCatalog(inquiry)
        self.project = RecordingProject(inquiry)
        self._inquiry = inquiry

    def reads(self, parsed: ParsedDocument) -> Reads:
        """What was asked so far, in the order of asking: resolve is a function, and asks in the same order again."""
        inquiry = self._inquiry
        answers = {**self.catalog.answers, **self.project.answers}
        connectors = ""
        mentioned: tuple[str, ...] = ()
        folded = mentionable_text(parsed) if self.catalog.asked_connectors else ""
        if folded:
            names, connectors = inquiry.connectors
            mentioned = occurring(names, folded)
        return Reads(
            inquiry.catalog.digest if self.catalog.answers or connectors else "",
            inquiry.project.digest if self.project.answers else "",
            connectors,
            mentioned,
            tuple(answers.items()),
        )


class RecordingCatalog:
    """A `CatalogView` that writes down what it is asked."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.answers: dict[Question, Json] = {}
        self.asked_connectors = False
        self._inquiry = inquiry
        self._view = inquiry.catalog

    @property
    def digest(self) -> str:
        return self._view.digest

    def tool(self, name: str) -> Tool | None:
        tool = self._view.tool(name)
        self.answers["tool", fold(name)] = tool_answer(tool)
        return tool

    def locked(self, name: str) -> LockedTool | None:
        locked = self._view.locked(name)
        self.answers["lock", fold(name)] = locked_answer(locked)
        return locked

    def connectors(self) -> tuple[str, ...]:
        self.asked_connectors = True
        return self._inquiry.connectors[0]

    def known_word(self, word: str) -> bool:
        known = self._view.known_word(word)
        self.answers["word", word] = known
        return known

    def suggest_tools(self, name: str, category: str | None) -> tuple[str, ...]:
        suggestions = self._view.suggest_tools(name, category)
        self.answers["tools", name, category] = list(suggestions)
        return suggestions

    def suggest_categories(self, tool: Tool, category: str) -> tuple[str, ...]:
        suggestions = self._view.suggest_categories(tool, category)
        self.answers["categories", tool.name, category] = list(suggestions)
        return suggestions

    def receivers(self, read_only: bool) -> tuple[str, ...]:
        receivers = self._view.receivers(read_only)
        self.answers["receivers", read_only] = list(receivers)
        return receivers


class RecordingProject:
    """A `ProjectView` that writes down what it is asked."""

    def __init__(self, inquiry: Inquiry) -> None:
        self.answers: dict[Question, Json] = {}
        self._inquiry = inquiry
        self._view = inquiry.project

    @property
    def digest(self) -> str:
        return self._view.digest

    def find(self, target: str, caller: str) -> tuple[ProjectDocument, ...]:
        documents = self._view.find(target, caller)
        self.answers["find", target, caller] = self._inquiry.found_answer(documents)
        return documents

    def suggest(self, target: str) -> tuple[str, ...]:
        names = self._view.suggest(target)
        self.answers["suggest", target] = names_answer(names)
        return names

    def cycle(self, target: ProjectDocument, caller: str) -> tuple[str, ...]:
        names = self._view.cycle(target, caller)
        self.answers["cycle", target.path, target.name, caller] = names_answer(names)
        return names
