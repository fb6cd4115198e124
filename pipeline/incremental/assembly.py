"""Generate, link and verify through the store (R2, R3, I3, I4).

Each phase keeps earlier code or gets new code; link makes the module; the verifier reads it. What it finds in new code
goes back to the generator, at most `rewrites` times; in kept code, a fence that does not arrive is a warning, and
anything else has the phase generated anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from pipeline.artifacts import Module, PhaseCode, Verdict
from pipeline.diagnostics.findings import Finding
from pipeline.generators.protocol import Generator
from pipeline.incremental import reasons
from pipeline.incremental.carry import Reuse, unit_key
from pipeline.incremental.lockstep import Steps, finish
from pipeline.incremental.past import Past
from pipeline.incremental.phases import Phase, Phases
from pipeline.incremental.previous import Previous
from pipeline.incremental.reads import Inquiry
from pipeline.incremental.record import PhaseRecord
from pipeline.incremental.report import Reason, Stage, StageReport, as_told, reused
from pipeline.incremental.shelf import Lost, LostReason
from pipeline.incremental.steps import ParseStep, ResolveStep
from pipeline.incremental.verdicts import Judgement, findings_of, judge
from pipeline.stages import link as link_stage
from pipeline.stages import verify as verify_stage
from pipeline.stores.protocol import Store

if TYPE_CHECKING:
    from pipeline.incremental.handoff import HandedCode
    from pipeline.request import Before


class Assembly(NamedTuple):
    """`module` is None where the verifier refused it to the end. `proven`: it had nothing to say about it.

    `codes`: the phases' as they are stored, b"" for one that there is none of. `again`: something was carried over or
    refused, so the next compile must look again.
    """

    reports: tuple[StageReport, ...]
    module: Module | None
    proven: bool
    phases: tuple[PhaseRecord, ...]
    codes: tuple[bytes, ...]
    findings: tuple[Finding, ...]
    again: bool


class Assembler:
    """One document's way from its resolved document to a proven module. Use once."""

    def __init__(
        self,
        store: Store,
        generator: Generator,
        inquiry: Inquiry,
        parsed: ParseStep,
        resolved: ResolveStep,
        pasts: Sequence[Past],
        previous: Previous | None,
        reuse: Reuse,
        rewrites: int,
        before: Before,
    ) -> None:
        if parsed.artifact is None:
            raise ValueError("there is no code for an unreadable document")
        self._store = store
        self._generator = generator
        self._parsed = parsed
        self._document = parsed.artifact
        self._resolved = resolved
        self._previous = previous
        self._reuse: Reuse = reuse
        self._pasts = () if reuse == "never" else pasts
        self._rewrites = rewrites
        phases = Phases(self._document, resolved.artifact, generator.identity, reuse, previous, inquiry.catalog)
        phases.look_up(self._store, self._pasts)
        phases.take(before.codes)
        self._told = before.reported
        self._phases: list[Phase] = phases.all
        self._link_lost: LostReason | None = None
        self._linked = self._verified = False

    def plan(self) -> tuple[StageReport, ...]:
        """What would run, without running a generator. Raises StoreError."""
        while not all(phase.made_now or phase.load() for phase in self._phases):
            pass
        if any(phase.made_now for phase in self._phases):
            self._linked = self._verified = True
        else:
            # A function of what is at hand; whether verify runs depends on what it makes.
            self._verified = not self._recorded_proof(finish(self._link()))
        return self._reports()

    def assemble(self) -> Steps[Assembly]:
        """Raises StoreError, and what the generator raises."""
        yield
        while True:
            module = yield from self._link()
            yield
            verdict = self._verify(module)
            judgement = judge(verdict, self._phases, self._reuse)
            rewritten = [p for p in judgement.refused if not p.made_now or p.attempts <= self._rewrites]
            if not rewritten:
                break
            for phase in rewritten:
                phase.refuse()
        return self._result(module, verdict.proven, judgement)

    def hand_on(self) -> Steps[tuple[HandedCode, ...]]:
        """Generate and link, and leave it to another process to verify: the code that was made."""
        from pipeline.incremental.handoff import HandedCode  # noqa: PLC0415 - one process alone hands nothing on

        yield
        yield from self._link()
        made = [phase for phase in self._phases if phase.made_now]
        return tuple(
            [
                HandedCode(phase.place, phase.digest, phase.code, phase.packed, phase.reason, phase.attempts)
                for phase in made
                if phase.code is not None and phase.packed is not None
            ]
        )

    @property
    def linked_reports(self) -> tuple[StageReport, ...]:
        """Of generate and link, when they are through."""
        return self._reports()[:-1]

    def _result(self, module: Module, proven: bool, judgement: Judgement) -> Assembly:
        refused = {phase.place for phase in judgement.refused}
        for phase in self._phases:
            if phase.made_now and phase.place not in refused:
                self._keep(phase)
        findings = findings_of(judgement, self._phases, self._document)
        again = bool(refused or judgement.stale) or any(phase.carried for phase in self._phases)
        return Assembly(
            reports=self._reports(),
            module=None if refused else module,
            proven=proven,
            phases=self._records(refused),
            codes=self._codes(refused),
            findings=tuple(findings),
            again=again,
        )

    # ------------------------------------------------------------------------------------------------- stages

    def _link(self) -> Steps[Module]:
        while True:
            self._generate([phase for phase in self._phases if phase.packed is None])
            yield
            recorded = self._recorded_module()
            if recorded is not None:
                return recorded
            at_hand = [phase.load() for phase in self._phases]  # all of them: each damaged one is found now
            if all(at_hand):
                break
        codes: list[PhaseCode | None] = [None] * len(self._document.phases)
        for phase in self._phases:
            codes[phase.place] = phase.code
        self._linked = True
        return link_stage.link(self._document, self._resolved.artifact, tuple(codes))

    def _generate(self, phases: Sequence[Phase]) -> None:
        """Raises what the generator raises."""
        if phases and self._generator.identity.model:
            from pipeline.incremental import generation  # noqa: PLC0415 - threads are slow to load, and few have a model

            generation.generate_at_once(
                self._generator,
                phases,
                lambda phase: generation.examine(phase, self._document, self._resolved.artifact),
                self._rewrites,
                self._keep_at_once,
            )
        else:
            for phase in phases:
                phase.use(self._generator.generate(phase.unit, phase.faults), self._generator.identity)

    def _keep(self, phase: Phase) -> None:
        """Store what a model made where it is found by its unit alone; all other code is made in less time."""
        if phase.maker.model and phase.packed is not None:
            self._store.add_trace(unit_key(phase.digest), phase.signed)

    def _keep_at_once(self, phase: Phase) -> None:
        self._keep(phase)
        self._store.flush()

    def _recorded_module(self) -> Module | None:
        """What an earlier compile linked of the same documents and code."""
        if not self._pasts:
            return None
        codes = [b""] * len(self._document.phases)
        for phase in self._phases:
            codes[phase.place] = phase.packed or b""
        for past in self._pasts:
            tail = past.tail
            if not tail.module or not self._same_documents(past) or not past.made_by("link", link_stage.VERSION):
                continue
            try:
                module = past.module if past.codes == codes else None
            except Lost as error:
                self._link_lost = self._link_lost or error.reason
                continue
            if module is not None:
                return module
        return None

    def _same_documents(self, past: Past) -> bool:
        return (past.tail.parsed, past.tail.resolved) == (self._parsed.stored.digest, self._resolved.stored.digest)

    def _verify(self, module: Module) -> Verdict:
        if not self._recorded_proof(module):
            self._verified = True
        elif not any(phase.handed for phase in self._phases):
            return Verdict()
        # What came from another process is read whatever is recorded of it.
        return verify_stage.verify(module.source, self._document, self._resolved.artifact)

    def _recorded_proof(self, module: Module) -> bool:
        """Whether the module is known to be proven. What was carried over is always verified again, and only a proof is
        worth remembering: what was refused is looked at again."""
        if any(phase.carried for phase in self._phases):
            return False
        return any(
            past.tail.proven
            and past.tail.module == module.sha256
            and self._same_documents(past)
            and past.made_by("verify", verify_stage.VERSION)
            for past in self._pasts
        )

    # ------------------------------------------------------------------------------------------------ reports

    def _records(self, refused: set[int]) -> tuple[PhaseRecord, ...]:
        records = [PhaseRecord(section.number, "", False, ()) for section in self._document.phases]
        for phase in self._phases:
            coded = phase.packed is not None and phase.place not in refused
            records[phase.place] = PhaseRecord(phase.number, phase.digest, coded, phase.carried)
        return tuple(records)

    def _codes(self, refused: set[int]) -> tuple[bytes, ...]:
        codes = [b""] * len(self._document.phases)
        for phase in self._phases:
            if phase.place not in refused:
                codes[phase.place] = phase.signed
        return tuple(codes)

    def _reports(self) -> tuple[StageReport, ...]:
        generated = self._generated()
        made = {report.reason for report in generated if report.outcome in ("ran", "carried")}
        link = self._report("link", link_stage.VERSION, self._linked, self._link_lost, made)
        verify = self._report("verify", verify_stage.VERSION, self._verified, None, made)
        return (*generated, link, verify)

    def _generated(self) -> tuple[StageReport, ...]:
        """Of the phases. What an earlier step of this job made, and stored, was made in this job."""
        reports = [StageReport("generate", section.number, "skipped", "callee") for section in self._document.phases]
        for phase in self._phases:
            reports[phase.place] = StageReport("generate", phase.number, phase.outcome, phase.reason)
        return as_told(reports, self._told)

    def _report(self, stage: Stage, version: str, ran: bool, lost: LostReason | None, made: set[Reason]) -> StageReport:
        return StageReport(stage, None, "ran", self._why(stage, version, lost, made)) if ran else reused(stage)

    def _why(self, stage: Stage, version: str, lost: LostReason | None, made: set[Reason]) -> Reason:
        """Why link or verify runs: by `reasons.PRIORITY` over what came before it. `made`: of the phases' code."""
        previous, fresh = self._previous, self._reuse == "never"
        if previous is None or not previous.tail.module or fresh or lost is not None:
            return reasons.without_record(fresh, lost)
        if previous.other_version(stage, version):
            return "stage-version"
        causes = set(made)
        if previous.tail.parsed != self._parsed.stored.digest and previous.parsed is not None:
            causes.add(reasons.parsed_change(previous.parsed, self._document))
        elif self._resolved.report.outcome == "ran":
            causes.add(self._resolved.report.reason)
        return reasons.first(causes) or "artifact-missing"
