"""One document through all stages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.artifacts import Module, ParsedDocument, ResolvedDocument
from pipeline.compilation import Made
from pipeline.diagnostics.findings import Finding
from pipeline.generators.protocol import Generator
from pipeline.incremental.carry import Reuse
from pipeline.incremental.lockstep import Steps
from pipeline.incremental.previous import Previous
from pipeline.incremental.reads import Inquiry
from pipeline.incremental.report import StageReport, skipped
from pipeline.incremental.shelf import Shelf
from pipeline.incremental.steps import ParseStep, ResolveStep, resolve_step
from pipeline.stages.generate import MAX_INSTRUCTIONS, expanded_size

if TYPE_CHECKING:
    from pipeline.incremental.assembly import Assembly


@dataclass(frozen=True, slots=True)
class Run:
    """What the stages came to. `resolved` and `assembly` are None where they were not reached."""

    parsed: ParseStep
    resolved: ResolveStep | None
    assembly: Assembly | None
    made: Made

    @property
    def failed(self) -> bool:
        return _failed(self.made.findings)


@dataclass(frozen=True, slots=True)
class Setting:
    """What all documents of a compile have in common."""

    shelf: Shelf
    generator: Generator
    inquiry: Inquiry
    reuse: Reuse
    rewrites: int
    check: bool


def run_stages(setting: Setting, parsed: ParseStep, path: str, previous: Previous | None, plan: bool) -> Steps[Run]:
    """All stages behind parse, one a step. `plan`: say what would run, and let no generator run.

    Raises StoreError, and what the generator raises.
    """
    document, before = parsed.artifact, (parsed.report,)
    if document is None:
        reports = (*before, StageReport("resolve", None, "skipped", "document"), *skipped([None], setting.check))
        return Run(parsed, None, None, Made(reports, parsed.findings, parsed.positions, None, None, None))
    fresh = setting.reuse == "never"
    resolved = resolve_step(setting.shelf, parsed, path, setting.inquiry, previous, fresh)
    yield
    findings = (*parsed.findings, *resolved.findings)
    if not _failed(findings):
        findings = (*findings, *_too_large(document, resolved.artifact))
    assembly: Assembly | None = None
    module: Module | None = None
    if setting.check or _failed(findings):
        reports = skipped([section.number for section in document.phases], setting.check)
    else:
        # A check generates nothing, and need not wait for what generates and verifies to be loaded.
        from pipeline.incremental.assembly import Assembler  # noqa: PLC0415

        assembler = Assembler(
            setting.shelf,
            setting.generator,
            setting.inquiry,
            parsed,
            resolved,
            previous,
            setting.reuse,
            setting.rewrites,
        )
        if plan:
            reports = assembler.plan()
        else:
            assembly = yield from assembler.assemble()
            reports, module = assembly.reports, assembly.module
            findings = (*findings, *assembly.findings)
    reports = (*before, resolved.report, *reports)
    made = Made(reports, findings, parsed.positions, document, resolved.artifact, module)
    return Run(parsed, resolved, assembly, made)


def _too_large(parsed: ParsedDocument, resolved: ResolvedDocument) -> list[Finding]:
    """What stands outside all phases goes into every agent's instructions (I1): a small document may ask for much."""
    size = expanded_size(parsed, resolved)
    if size <= MAX_INSTRUCTIONS:
        return []
    return [Finding("document-too-large", None, None, (("size", size), ("limit", MAX_INSTRUCTIONS)), (), "expanded")]


def _failed(findings: Iterable[Finding]) -> bool:
    return any(finding.fails for finding in findings)
