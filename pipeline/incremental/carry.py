"""Which code of an earlier compile a phase may keep (R2, R3, I4).

Generated code may have cost a model's time, so it is kept apart from the document's bundle, in a trace of its own that
is found by the unit alone, in whatever document the phase stands. Each says who made it: `reuse: exact` takes code of
the same generator, version and model; `reuse: compatible` else takes the newest code of another version or model of the
same generator. Code of another generator is never taken over: choosing a generator is an option.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Literal, NamedTuple, TypeAlias

from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental import keys
from pipeline.incremental.report import Reason

Reuse: TypeAlias = Literal["compatible", "exact", "never"]


class Code(NamedTuple):
    """Generated code as it is stored: canonical JSON, and its digest."""

    digest: str
    packed: bytes


class Candidate(NamedTuple):
    """Recorded code, and why it is not the generator's own, in R3's words; () if it is."""

    code: Code
    reasons: tuple[Reason, ...]


class CodeTrace(NamedTuple):
    generator: str
    version: str
    model: str
    code: Code


def unit_key(unit: str) -> str:
    """The key of all code that was made for the unit with that digest."""
    return keys.stage_key("generate", "", (unit,))


def packed_code(packed: bytes) -> Code:
    return Code(sha256(packed).hexdigest(), packed)


def trace(identity: GeneratorIdentity, code: Code) -> bytes:
    """Who made it on a line of its own, then the code."""
    return b"%s\n%s" % (keys.encode(_words(identity)).encode("ascii"), code.packed)


def _words(identity: GeneratorIdentity) -> tuple[str, str, str]:
    return identity.name, identity.version, identity.model


def read_traces(traces: Iterable[bytes]) -> list[CodeTrace]:
    """In their order; those that are none are left out."""
    found: list[CodeTrace] = []
    for entry in traces:
        words, _, packed = entry.partition(b"\n")
        with suppress(ValueError, TypeError):
            generator, version, model = json.loads(words)
            found.append(CodeTrace(generator, version, model, packed_code(packed)))
    return found


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
