"""One version of a document, as the comparison sees it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pipeline.artifacts import Grant, Handover, ParsedDocument, ResolvedDocument, ResolvedPhase, Section
from pipeline.compilation import Compilation
from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.lang import Lang

Effect: TypeAlias = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Version:
    """`parsed` and `resolved` are None for an unreadable document. `found`: what was found, and as it is shown (O3)."""

    path: str
    sha256: str
    parsed: ParsedDocument | None
    resolved: ResolvedDocument | None
    found: tuple[tuple[Finding, Diagnostic], ...]

    @property
    def name(self) -> str | None:
        return None if self.parsed is None else self.parsed.name

    def phases(self) -> list[VersionPhase]:
        """In document order; none for an unreadable document."""
        if self.parsed is None or self.resolved is None:
            return []
        effects: dict[tuple[str, str], Effect] = {(pin.tool, pin.operation): pin.effect for pin in self.resolved.pins}
        pairs = zip(self.parsed.phases, self.resolved.phases, strict=True)
        return [VersionPhase(self.parsed, section, resolved, effects) for section, resolved in pairs]


def version_of(path: str, compilation: Compilation, lang: Lang) -> Version:
    """`path`: as the comparison shows it; messages in `lang`. Raises StoreError."""
    found = [(finding, bind([finding], compilation.positions, lang)[0]) for finding in compilation.findings]
    found.sort(key=lambda entry: (entry[1].line or 0, entry[1].column or 0, entry[1].code))
    return Version(path, compilation.sha256, compilation.parsed, compilation.resolved, tuple(found))


@dataclass(frozen=True, slots=True)
class Access:
    """What a phase may do with one tool, its declarations taken together (T7).

    `operations` None: all of a server whose operations are unknown. `written`: the declarations' items. An operation of
    a standard tool has no effect of its own.
    """

    tool: str
    written: tuple[str, ...]
    operations: tuple[str, ...] | None
    effects: tuple[tuple[str, Effect], ...]
    read_only: bool
    standard: bool

    @property
    def writes(self) -> bool:
        return _writes(self)


@dataclass(frozen=True, slots=True)
class VersionPhase:
    """A phase; `effects` are those of the document's pinned operations."""

    document: ParsedDocument
    section: Section
    resolved: ResolvedPhase
    effects: dict[tuple[str, str], Effect]

    @property
    def number(self) -> int | None:
        return self.section.number

    @property
    def title(self) -> str:
        return self.section.title

    def text(self) -> list[str]:
        return prose_lines(self.document, self.section)

    def fences(self) -> list[tuple[str | None, str]]:
        return fences_of(self.document, self.section)

    def access(self) -> dict[str, Access]:
        """By tool, in the order of first declaration."""
        grants: dict[str, list[Grant]] = {}
        for grant in self.resolved.tools:
            grants.setdefault(grant.tool, []).append(grant)
        return {tool: self._access(tool, of_tool) for tool, of_tool in grants.items()}

    def _access(self, tool: str, grants: list[Grant]) -> Access:
        named = [grant.operations for grant in grants if grant.operations is not None]
        operations = (
            None if len(named) < len(grants) else tuple(dict.fromkeys(name for names in named for name in names))
        )
        standard = all(grant.kind == "standard" for grant in grants)
        effects = tuple((name, self.effects.get((tool, name), "write")) for name in operations or () if not standard)
        read_only = all(grant.read_only for grant in grants)
        return Access(tool, tuple(written(grant) for grant in grants), operations, effects, read_only, standard)

    def handovers(self) -> list[Handed]:
        return [self._handed(handover) for handover in self.resolved.handovers]

    def _handed(self, handover: Handover) -> Handed:
        operations = handover.operations
        effects = tuple((name, self.effects.get((handover.tool, name), "write")) for name in operations or ())
        return Handed(
            handover.tool,
            handover.categories,
            handover.read_only,
            handover.mode,
            operations,
            effects,
            handover.argument,
            handover.fixed_arguments,
            handover.placeholders,
        )


@dataclass(frozen=True, slots=True)
class Handed:
    """A hand-over without its fence, which is compared as a fence."""

    tool: str
    categories: tuple[str, ...]
    read_only: bool
    mode: Literal["typescript", "argument"]
    operations: tuple[str, ...] | None
    effects: tuple[tuple[str, Effect], ...]
    argument: str | None
    fixed_arguments: str
    placeholders: tuple[str, ...]

    @property
    def writes(self) -> bool:
        return _writes(self)


def _writes(use: Access | Handed) -> bool:
    """Whether anything may be written; where operations are unknown, `read_only` alone decides (T11)."""
    if use.operations is None:
        return not use.read_only
    return any(effect == "write" for _, effect in use.effects)


def written(grant: Grant) -> str:
    """The item of a declaration that gives this grant."""
    category = f" の {grant.categories[0]}" if grant.categories else ""
    read_only = " (read-only)" if grant.read_only else ""
    options = "".join(f" ({key}: {value})" for key, value in grant.options)
    return f"{grant.tool}{category}{read_only}{options}"


def prose_lines(document: ParsedDocument, section: Section) -> list[str]:
    """The section's text, line by line; where a fence stands, a line that says so."""
    lines: list[str] = []
    for segment in section.body:
        if isinstance(segment, str):
            lines += segment.split("\n")
        else:
            lines.append(f"```{document.fences[segment].language or ''} … ```")
    return lines


def fences_of(document: ParsedDocument, section: Section) -> list[tuple[str | None, str]]:
    """Language and text of the section's fences, in order."""
    return [(document.fences[index].language, document.fences[index].text) for index in section.fences]
