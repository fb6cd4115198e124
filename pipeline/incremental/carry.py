"""Which code of an earlier compile a phase may keep (R2, R3, I4).

Code stands in the bundle of its document, and is found there by its unit. What has cost a model's time is kept in a
trace of its own besides, and found in whatever document the phase stands. All code says who made it: `reuse: exact`
takes that of the same generator, version and model; `reuse: compatible` else takes the newest of another version or
model of the same generator. Code of another generator is never taken over: choosing a generator is an option.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from pipeline import canonical
from pipeline.artifacts import Grant, Pin, Segment, Unit, UnitHandover
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental import keys
from pipeline.incremental.code import SignedCode, from_signed
from pipeline.incremental.report import Reason

Reuse: TypeAlias = Literal["compatible", "exact", "never"]


class Candidate(NamedTuple):
    """Recorded code, and why it is not the generator's own, in R3's words; () if it is."""

    signed: SignedCode
    reasons: tuple[Reason, ...]


def unit_digest(unit: Unit) -> str:
    """The digest of all that a generator reads: of the unit's canonical bytes, but with the pins by their digests."""
    title, shared, shared_fences, body, own_fences, tools, handovers, pins = unit
    parts = (
        canonical.encoded(title),
        _shared(shared, shared_fences),
        _fields((body, own_fences)),
        (_usual_allowed if unit.usual and not handovers else _allowed)(tools, handovers, pins),
    )
    # No class has that name any more. It is part of the digests that code of models is found by.
    return sha256(canonical.named("UnitParts", b"[%b]" % b",".join(parts))).hexdigest()


def _fields(values: tuple[object, ...]) -> bytes:
    return canonical.encoded(values)[1:-1]


@lru_cache(maxsize=1)
def _shared(prose: tuple[Segment, ...], fences: tuple[str | None, ...]) -> bytes:
    """What all phases of a document have in common, one after another."""
    return _fields((prose, fences))


def _allowed(tools: tuple[Grant, ...], handovers: tuple[UnitHandover, ...], pins: tuple[Pin, ...]) -> bytes:
    return _fields((tools, handovers, tuple([_digest_of_pin(pin) for pin in pins])))


_usual_allowed = lru_cache(maxsize=1024)(_allowed)
"""Of usual units without hand-overs, whose words are the document's."""

_digest_of_pin = lru_cache(maxsize=4096)(canonical.digest)
"""The documents of a library use the same operations, whose schemas are longer than all that is said of a phase."""


def unit_key(unit: str) -> str:
    """The key of all code that models made for the unit with that digest."""
    return keys.stage_key("generate", "", (unit,))


def read_traces(traces: Iterable[bytes]) -> list[SignedCode]:
    """In their order; those that are none are left out."""
    found: list[SignedCode] = []
    for entry in traces:
        with suppress(ValueError):
            found.append(from_signed(entry))
    return found


def candidates(made: Sequence[SignedCode], identity: GeneratorIdentity, reuse: Reuse) -> list[Candidate]:
    """What may be kept, best first. `made` newest first."""
    if reuse == "never":
        return []
    own = [Candidate(entry, ()) for entry in made if entry.maker == identity]
    if reuse == "exact":
        return own
    others = (entry for entry in made if entry.maker.name == identity.name and entry.maker != identity)
    return own + [Candidate(entry, differences(entry.maker, identity)) for entry in others]


def differences(maker: GeneratorIdentity, identity: GeneratorIdentity) -> tuple[Reason, ...]:
    """Why code of `maker` is not what the generator would make now, in R3's words; "options": another generator."""
    reasons: list[Reason] = []
    if maker.name != identity.name:
        return ("options",)
    if maker.version != identity.version:
        reasons.append("stage-version")
    if maker.model != identity.model:
        reasons.append("model")
    return tuple(reasons)
