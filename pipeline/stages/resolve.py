"""Resolve: declarations to tools, hand-overs to operations, calls to documents (T1-T11, V1-V9, C1-C2, I2)."""

from __future__ import annotations

from dataclasses import dataclass

from catalog.view import CatalogView
from pipeline.artifacts import ParsedDocument, ResolvedDocument
from pipeline.diagnostics.findings import Finding
from pipeline.project import ProjectView

VERSION = "1"


@dataclass(frozen=True, slots=True)
class ResolveOutcome:
    artifact: ResolvedDocument
    findings: tuple[Finding, ...]


def resolve(parsed: ParsedDocument, catalog: CatalogView, project: ProjectView, path: str) -> ResolveOutcome:
    """`path`: the document's own, relative to the project's root. Reads nothing but its arguments."""
    raise NotImplementedError
