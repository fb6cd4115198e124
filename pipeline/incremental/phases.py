"""The phases with an agent, on their way to their code (R2, R3).

Which earlier code does each keep, and why is it generated where it keeps none?
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.view import CatalogView
from pipeline.artifacts import Fault, ParsedDocument, PhaseCode, ResolvedDocument, Unit
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental import carry, reasons
from pipeline.incremental.carry import Reuse
from pipeline.incremental.code import SignedCode, fits, pack, signed, unpack
from pipeline.incremental.past import Past
from pipeline.incremental.previous import Previous
from pipeline.incremental.report import Outcome, Reason
from pipeline.incremental.shelf import Lost, LostReason
from pipeline.stages.generate import units_of
from pipeline.stages.versions import SCHEMA_VERSION
from pipeline.stores.protocol import Store

if TYPE_CHECKING:
    from pipeline.incremental.handoff import HandedCode


class Phase:
    """`place`: its index in the document; `digest`: of its unit; `maker`: of the code that it has.

    `code` and `packed`: the code that it has, decoded and as it is stored; kept code is decoded where it is needed.
    `made`: what is recorded for its unit, newest first; `lost`: what became of recorded code that cannot be had.
    `carried`: why its code is not the generator's own (R3); `handed`: whether an earlier step of the same job had it
    made; `proven`: whether the verifier had nothing to say about code that was made now, looked at by itself.
    """

    def __init__(self, place: int, number: int | None, unit: Unit, digest: str, maker: GeneratorIdentity) -> None:
        self.place = place
        self.number = number
        self.unit = unit
        self.digest = digest
        self.maker = maker
        self.made: list[SignedCode] = []
        self.lost: LostReason | None = None
        self.candidates: list[carry.Candidate] = []
        self.code: PhaseCode | None = None
        self.packed: bytes | None = None
        self.outcome: Outcome = "ran"
        self.reason: Reason = "same"
        self.carried: tuple[Reason, ...] = ()
        self.attempts = 0
        self.faults: tuple[Fault, ...] = ()
        self.handed = False
        self.proven = False

    @property
    def made_now(self) -> bool:
        """Whether this compile's generator makes its code."""
        return self.outcome == "ran"

    def keep(self) -> None:
        """Use the best candidate that is left, if any."""
        self.code = None
        if self.candidates:
            (self.maker, self.packed), self.carried = self.candidates.pop(0)
            self.outcome = "carried" if self.carried else "reused"
            self.reason = self.carried[0] if self.carried else "same"
        else:
            self.packed, self.carried, self.outcome = None, (), "ran"

    def use(self, code: PhaseCode, maker: GeneratorIdentity) -> None:
        """Take code that was made just now."""
        self.code, self.packed, self.maker = code, pack(code), maker
        self.attempts += 1

    def take(self, made: HandedCode, maker: GeneratorIdentity) -> None:
        """Use code that an earlier step of the same job had made, whatever has been stored of it since."""
        self.maker = maker
        self.code, self.packed, self.reason, self.attempts = made.code, made.packed, made.reason, made.attempts
        self.outcome, self.carried, self.handed = "ran", (), True

    def load(self) -> bool:
        """Have the kept code at hand. False if it is none: then the next best is kept."""
        if self.code is None and self.packed is not None:
            try:
                self.code = unpack(self.packed)
            except ValueError:
                self.keep()
                if self.made_now:
                    self.reason = "artifact-damaged"
                return False
        return True

    @property
    def signed(self) -> bytes:
        """Its code as it is stored, b"" where it has none."""
        return b"" if self.packed is None else signed(self.maker, self.packed)

    def refuse(self) -> None:
        """Have its code made again."""
        if not self.made_now:
            # Kept code was proven for this very unit. That it does not fit has to do with who made it, or with the
            # store.
            self.reason = self.carried[0] if self.carried else "artifact-damaged"
            self.outcome, self.carried, self.faults = "ran", (), ()
        self.code = self.packed = None
        self.handed = self.proven = False


class Phases:
    """All of one document's, in its order."""

    def __init__(
        self,
        parsed: ParsedDocument,
        resolved: ResolvedDocument,
        identity: GeneratorIdentity,
        reuse: Reuse,
        previous: Previous | None,
        catalog: CatalogView,
    ) -> None:
        self._parsed = parsed
        self._identity = identity
        self._reuse: Reuse = reuse
        self._previous = previous
        self._catalog = catalog
        units = units_of(parsed, resolved)
        self.all = [self._phase(place, unit) for place, unit in enumerate(units) if unit is not None]

    def _phase(self, place: int, unit: Unit) -> Phase:
        return Phase(place, self._parsed.phases[place].number, unit, carry.unit_digest(unit), self._identity)

    def look_up(self, store: Store, pasts: Sequence[Past]) -> None:
        """Let each phase keep what it may: of the document's earlier compiles, and what models have made for it in
        whatever document. Raises StoreError."""
        if self._reuse != "never" and (pasts or self._identity.model):
            self._find_dear(store)
            for phase in self.all:
                self._find_in(pasts, phase)
                phase.candidates = carry.candidates(phase.made, self._identity, self._reuse)
        for phase in self.all:
            phase.keep()
            if phase.made_now:
                phase.reason = self._why(phase)

    def _find_dear(self, store: Store) -> None:
        if not self._identity.model:
            return
        keys = {phase.place: carry.unit_key(phase.digest) for phase in self.all}
        found = store.get_traces_many(keys.values())
        for phase in self.all:
            phase.made = carry.read_traces(found.get(keys[phase.place], ()))

    def _find_in(self, pasts: Sequence[Past], phase: Phase) -> None:
        """The generator's own if there is some, else the newest that may be carried over: few bundles are read."""
        if any(made.maker.name == self._identity.name for made in phase.made):
            return
        recorded = [(past, past.coded[phase.digest]) for past in pasts if phase.digest in past.coded]
        for past, place in sorted(recorded, key=lambda entry: not entry[0].coded_by(self._identity, entry[1])):
            try:
                made = past.signed_code(place)
            except Lost as lost:
                phase.lost = phase.lost or lost.reason
                continue
            phase.made.append(made)
            if made.maker.name == self._identity.name:
                return

    def take(self, handed: Iterable[HandedCode]) -> None:
        """Let phases have the code that was handed on for them. It counts as made now, and is verified as such."""
        by_place = {phase.place: phase for phase in self.all}
        for made in handed:
            phase = by_place.get(made.place)
            if phase is None or phase.digest != made.unit:
                continue
            if fits(made.code, self._parsed.phases[phase.place], self._parsed):
                phase.take(made, self._identity)

    def _why(self, phase: Phase) -> Reason:
        if self._reuse == "never":
            return "forced"
        if phase.lost is not None:
            return phase.lost
        if phase.made:
            return carry.differences(phase.made[0].maker, self._identity)[0]
        previous = self._previous
        if previous is None:
            return "new"
        if previous.tail.versions.get("artifacts") != str(SCHEMA_VERSION):
            return "stage-version"
        if previous.parsed is None:
            return "new"
        place = self._ancestors.of(phase.unit, phase.place)
        before = None if place is None else previous.units[place]
        if place is None or before is None or before == phase.unit:
            # Never seen, or seen in a compile that failed before it was generated.
            return "new"
        then, now = previous.parsed.phases[place], self._parsed.phases[phase.place]
        differ = reasons.declared(then) != reasons.declared(now)
        return reasons.unit_change(before, phase.unit, differ, self._catalog)

    @cached_property
    def _ancestors(self) -> reasons.Ancestors:
        previous = self._previous
        if previous is None:
            return reasons.Ancestors(())
        used = {phase.digest for phase in self.all}
        recorded = [record.unit for record in previous.tail.phases]
        units = previous.units
        if len(recorded) != len(units):
            return reasons.Ancestors(units)
        return reasons.Ancestors([None if mark in used else unit for mark, unit in zip(recorded, units, strict=True)])
