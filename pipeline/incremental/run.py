"""One document through all stages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from pipeline.artifacts import Module
from pipeline.compilation import Made
from pipeline.diagnostics.findings import Finding
from pipeline.generators.protocol import Generator
from pipeline.incremental.carry import Reuse
from pipeline.incremental.lockstep import Steps
from pipeline.incremental.past import Past
from pipeline.incremental.previous import Previous
from pipeline.incremental.reads import Inquiry
from pipeline.incremental.report import StageReport, Until, skipped
from pipeline.incremental.steps import ParseStep, ResolveStep, resolve_step
from pipeline.request import NO_STEPS, Before
from pipeline.stages.generate import MAX_INSTRUCTIONS
from pipeline.stores.protocol import Store

if TYPE_CHECKING:
    from pipeline.incremental.assembly import Assembly
    from pipeline.incremental.handoff import HandedCode


class Run(NamedTuple):
    """What the stages came to. `resolved` and `assembly` are None where they were not reached. `codes`: what was made
    and not yet verified, where the stages were taken up to link."""

    parsed: ParseStep
    resolved: ResolveStep | None
    assembly: Assembly | None
    made: Made
    codes: tuple[HandedCode, ...] = ()

    @property
    def failed(self) -> bool:
        return _failed(self.made.findings)


class Setting(NamedTuple):
    """What all documents of a compile have in common. `store`: where the code of phases is kept."""

    store: Store
    generator: Generator
    inquiry: Inquiry
    reuse: Reuse
    rewrites: int
    check: bool


def run_stages(
    setting: Setting,
    parsed: ParseStep,
    path: str,
    pasts: Sequence[Past],
    previous: Previous | None,
    plan: bool,
    until: Until | None = None,
    before: Before = NO_STEPS,
) -> Steps[Run]:
    """All stages behind parse, one a step. `plan`: say what would run, let no generator run, and store nothing.

    `until`: go no further, unless the document has errors: then nothing comes behind. `before`: what earlier steps of
    the same job made. Raises StoreError, and what the generator raises.
    """
    document, told = parsed.artifact, (parsed.report,)
    if document is None:
        reports = (*told, StageReport("resolve", None, "skipped", "document"), *skipped([None], setting.check))
        return Run(parsed, None, None, Made(reports, parsed.findings, parsed.positions, None, None, None))
    if until == "parse":
        return Run(parsed, None, None, Made(told, parsed.findings, parsed.positions, document, None, None))
    fresh = setting.reuse == "never"
    resolved = resolve_step(parsed, path, setting.inquiry, pasts, previous, fresh)
    yield
    findings = (*parsed.findings, *resolved.findings)
    if not _failed(findings):
        findings = (*findings, *_too_large(resolved.expanded))
    assembly: Assembly | None = None
    module: Module | None = None
    codes: tuple[HandedCode, ...] = ()
    if setting.check or _failed(findings):
        reports = skipped([section.number for section in document.phases], setting.check)
    elif until == "resolve":
        reports = ()
    else:
        # A check generates nothing, and need not wait for what generates and verifies to be loaded.
        from pipeline.incremental.assembly import Assembler  # noqa: PLC0415 - see above

        assembler = Assembler(
            setting.store,
            setting.generator,
            setting.inquiry,
            parsed,
            resolved,
            pasts,
            previous,
            setting.reuse,
            setting.rewrites,
            before,
        )
        if plan:
            reports = assembler.plan()
        elif until == "link":
            codes = yield from assembler.hand_on()
            reports = assembler.linked_reports
        else:
            assembly = yield from assembler.assemble()
            reports = assembly.reports
            module = assembly.module
            findings = (*findings, *assembly.findings)
    reports = (*told, resolved.report, *reports)
    made = Made(reports, findings, parsed.positions, document, resolved.artifact, module)
    return Run(parsed, resolved, assembly, made, codes)


def _too_large(size: int) -> list[Finding]:
    """What stands outside all phases goes into every agent's instructions (I1): a small document may ask for much."""
    if not size:
        return []
    return [Finding("document-too-large", None, None, (("size", size), ("limit", MAX_INSTRUCTIONS)), (), "expanded")]


def _failed(findings: Iterable[Finding]) -> bool:
    return any(finding.fails for finding in findings)
