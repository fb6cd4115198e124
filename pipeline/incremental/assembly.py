"""Generate, link and verify through the store (R2, R3, I3, I4).

Each phase keeps earlier code or gets new code; link makes the module; the verifier reads it. What it finds in new code
goes back to the generator, at most `rewrites` times; in kept code, a fence that does not arrive is a warning, and
anything else has the phase generated anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pipeline.artifacts import Module, PhaseCode, Verdict
from pipeline.diagnostics.findings import Finding
from pipeline.generators.protocol import Generator
from pipeline.incremental import carry, keys, reasons
from pipeline.incremental.carry import Reuse
from pipeline.incremental.lockstep import Steps, finish
from pipeline.incremental.phases import Phase, Phases
from pipeline.incremental.previous import Previous
from pipeline.incremental.reads import Inquiry
from pipeline.incremental.record import PhaseRecord
from pipeline.incremental.report import Reason, Stage, StageReport, reused
from pipeline.incremental.shelf import Lost, LostReason, Shelf
from pipeline.incremental.steps import ParseStep, ResolveStep, newcomer
from pipeline.incremental.verdicts import Judgement, findings_of, judge
from pipeline.stages import link as link_stage
from pipeline.stages import verify as verify_stage


@dataclass(frozen=True, slots=True)
class Assembly:
    """`module` is None where the verifier refused it to the end, or nothing was to be made (a plan).

    `again`: something was carried over or refused, so the next compile must look again.
    """

    reports: tuple[StageReport, ...]
    module: Module | None
    digest: str
    phases: tuple[PhaseRecord, ...]
    findings: tuple[Finding, ...]
    again: bool


class Assembler:
    """One document's way from its resolved document to a proven module. Use once."""

    def __init__(
        self,
        shelf: Shelf,
        generator: Generator,
        inquiry: Inquiry,
        parsed: ParseStep,
        resolved: ResolveStep,
        previous: Previous | None,
        reuse: Reuse,
        rewrites: int,
    ) -> None:
        if parsed.artifact is None:
            raise ValueError("there is no code for an unreadable document")
        self._shelf = shelf
        self._store = shelf.store
        self._generator = generator
        self._parsed = parsed
        self._document = parsed.artifact
        self._resolved = resolved
        self._previous = previous
        self._reuse: Reuse = reuse
        self._lookable = reuse != "never" and not newcomer(parsed.report, previous)
        self._rewrites = rewrites
        phases = Phases(self._document, resolved.artifact, generator.identity, reuse, previous, inquiry.catalog)
        phases.look_up(self._store)
        self._phases: list[Phase] = phases.all
        self._link_lost: LostReason | None = None
        self._linked = self._verified = False

    def plan(self) -> tuple[StageReport, ...]:
        """What would run, without running a generator. The store must be one that forgets. Raises StoreError."""
        while not all(phase.made_now or phase.load(self._shelf) for phase in self._phases):
            pass
        if any(phase.made_now for phase in self._phases):
            self._linked = self._verified = True
        else:
            # A function of what is at hand; whether verify runs depends on what it makes.
            _, digest = finish(self._link())
            self._verified = not self._recorded_proof(digest)
        return self._reports()

    def assemble(self) -> Steps[Assembly]:
        """Raises StoreError, and what the generator raises."""
        yield
        while True:
            module, digest = yield from self._link()
            yield
            judgement = judge(self._verify(module, digest), self._phases, self._reuse)
            rewritten = [p for p in judgement.refused if not p.made_now or p.attempts <= self._rewrites]
            if not rewritten:
                break
            for phase in rewritten:
                phase.refuse()
        return self._result(module, digest, judgement)

    def _result(self, module: Module, digest: str, judgement: Judgement) -> Assembly:
        refused = {phase.place for phase in judgement.refused}
        identity = self._generator.identity
        for phase in self._phases:
            if phase.made_now and phase.place not in refused:
                self._store.add_trace(phase.key, carry.trace(identity, phase.code_digest))
        findings = findings_of(judgement, self._phases, self._document)
        again = bool(refused or judgement.stale) or any(phase.carried for phase in self._phases)
        return Assembly(
            reports=self._reports(),
            module=None if refused else module,
            digest="" if refused else digest,
            phases=self._records(refused),
            findings=tuple(findings),
            again=again,
        )

    # ------------------------------------------------------------------------------------------------- stages

    def _generate(self, phase: Phase) -> None:
        phase.code = self._generator.generate(phase.unit, phase.faults)
        phase.code_digest = self._shelf.put(phase.code)
        phase.attempts += 1

    def _link(self) -> Steps[tuple[Module, str]]:
        while True:
            for phase in self._phases:
                if not phase.code_digest:
                    self._generate(phase)
            yield
            module, digest = self._recorded_module()
            if module is not None:
                return module, digest
            at_hand = [phase.load(self._shelf) for phase in self._phases]  # all of them: each lost one is found now
            if all(at_hand):
                break
        codes: list[PhaseCode | None] = [None] * len(self._document.phases)
        for phase in self._phases:
            codes[phase.place] = phase.code
        module = link_stage.link(self._document, self._resolved.artifact, tuple(codes))
        digest = self._shelf.put(module)
        self._store.add_trace(self._link_key(), keys.encode(digest).encode("ascii"))
        self._linked = True
        return module, digest

    def _link_key(self) -> str:
        codes = [f"{phase.place} {phase.code_digest}" for phase in self._phases]
        return keys.stage_key("link", link_stage.VERSION, (self._parsed.digest, self._resolved.digest, *codes))

    def _recorded_module(self) -> tuple[Module | None, str]:
        if self._lookable:
            for trace in self._store.get_traces(self._link_key()):
                digest = json.loads(trace)
                try:
                    return self._shelf.load(digest, Module), digest
                except Lost as error:
                    self._link_lost = self._link_lost or error.reason
        return None, ""

    def _verify(self, module: Module, digest: str) -> Verdict:
        if self._recorded_proof(digest):
            return Verdict()
        self._verified = True
        verdict = verify_stage.verify(module.source, self._document, self._resolved.artifact)
        if verdict.proven:
            # Only a proof is worth keeping: what was refused is looked at again.
            self._store.add_trace(self._proof_key(digest), b"proven")
        return verdict

    def _proof_key(self, module: str) -> str:
        return keys.stage_key("verify", verify_stage.VERSION, (module, self._parsed.digest, self._resolved.digest))

    def _recorded_proof(self, module: str) -> bool:
        """Whether the module is known to be proven. What was carried over is always verified again."""
        if not self._lookable or any(phase.carried for phase in self._phases):
            return False
        return bool(self._store.get_traces(self._proof_key(module)))

    # ------------------------------------------------------------------------------------------------ reports

    def _records(self, refused: set[int]) -> tuple[PhaseRecord, ...]:
        records = [PhaseRecord(section.number, "", "", ()) for section in self._document.phases]
        for phase in self._phases:
            code = "" if phase.place in refused else phase.code_digest
            records[phase.place] = PhaseRecord(phase.number, phase.digest, code, phase.carried)
        return tuple(records)

    def _reports(self) -> tuple[StageReport, ...]:
        reports = [StageReport("generate", section.number, "skipped", "callee") for section in self._document.phases]
        for phase in self._phases:
            reports[phase.place] = StageReport("generate", phase.number, phase.outcome, phase.reason)
        reports.append(self._report("link", link_stage.VERSION, self._linked, self._link_lost))
        reports.append(self._report("verify", verify_stage.VERSION, self._verified, None))
        return tuple(reports)

    def _report(self, stage: Stage, version: str, ran: bool, lost: LostReason | None) -> StageReport:
        return StageReport(stage, None, "ran", self._why(stage, version, lost)) if ran else reused(stage)

    def _why(self, stage: Stage, version: str, lost: LostReason | None) -> Reason:
        """Why link or verify runs: by `reasons.PRIORITY` over what came before it."""
        previous, fresh = self._previous, self._reuse == "never"
        if previous is None or not previous.tail.module or fresh or lost is not None:
            return reasons.without_record(fresh, lost)
        if previous.other_version(stage, version):
            return "stage-version"
        causes: set[Reason] = {phase.reason for phase in self._phases if phase.outcome != "reused"}
        if previous.tail.parsed != self._parsed.digest and previous.parsed is not None:
            causes.add(reasons.parsed_change(previous.parsed, self._document))
        elif self._resolved.report.outcome == "ran":
            causes.add(self._resolved.report.reason)
        return reasons.first(causes) or "artifact-missing"
