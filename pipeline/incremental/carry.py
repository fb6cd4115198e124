"""Which code of an earlier compile a phase may keep (R2, R3, I4).

Traces of generated code are found by the unit alone, and each says who made it: `reuse: exact` takes code of the same
generator, version and model; `reuse: compatible` else takes the newest code of another version or model of the same
generator. Code of another generator is never taken over: choosing a generator is an option.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, TypeAlias

from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental import keys
from pipeline.incremental.report import Reason

Reuse: TypeAlias = Literal["compatible", "exact", "never"]


class Candidate(NamedTuple):
    """Recorded code: its digest, and why it is not the generator's own, in R3's words; () if it is."""

    code: str
    reasons: tuple[Reason, ...]


class CodeTrace(NamedTuple):
    generator: str
    version: str
    model: str
    code: str


def unit_key(unit: str) -> str:
    """The key of all code that was made for the unit with that digest."""
    return keys.stage_key("generate", "", (unit,))


def trace(identity: GeneratorIdentity, code: str) -> bytes:
    words = (*_words(identity), code)
    return f"[{','.join([keys.quote(word) for word in words])}]".encode("ascii")


def _words(identity: GeneratorIdentity) -> tuple[str, str, str]:
    return identity.name, identity.version, identity.model


def read_traces(traces: Iterable[bytes]) -> list[CodeTrace]:
    return [CodeTrace(*json.loads(entry)) for entry in traces]


def candidates(traces: Sequence[CodeTrace], identity: GeneratorIdentity, reuse: Reuse) -> list[Candidate]:
    """What may be kept, best first. `traces` newest first."""
    if reuse == "never":
        return []
    own = [Candidate(entry.code, ()) for entry in traces if entry[:3] == _words(identity)]
    if reuse == "exact":
        return own
    others = (entry for entry in traces if entry.generator == identity.name and entry[:3] != _words(identity))
    return own + [Candidate(entry.code, differences(entry, identity)) for entry in others]


def differences(entry: CodeTrace, identity: GeneratorIdentity) -> tuple[Reason, ...]:
    """Why code of `entry` is not what the generator would make now, in R3's words; "options": another generator."""
    reasons: list[Reason] = []
    if entry.generator != identity.name:
        return ("options",)
    if entry.version != identity.version:
        reasons.append("stage-version")
    if entry.model != identity.model:
        reasons.append("model")
    return tuple(reasons)
