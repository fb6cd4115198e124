"""What one worker hands to the next, where a document's stages are taken one by one in several processes.

Only what cannot be had again for nothing: the code that generators made, and which stored bundles were found damaged
(the store has dropped them: the next worker would say that they are missing). Parse and resolve are functions of the
text and the catalog, and run in less time than their artifacts are fetched and decoded: so what is proven in the end is
proven against the text itself, whoever could write a hand-off.

A hand-off is good for one job: the same document, catalog, options and earlier compiles. Any other bytes are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple, get_args

from pipeline.artifacts import PhaseCode
from pipeline.incremental import code as codes
from pipeline.incremental.keys import decode, encode, key
from pipeline.incremental.record import Record
from pipeline.incremental.report import Reason
from pipeline.request import Options

FORMAT = 1
"""Version of these bytes. Those of another version are none, so two versions may run side by side."""

MAX_BYTES = 64 << 20
MAX_DAMAGED = 64
MAX_PHASES = 100_000
MAX_ATTEMPTS = 1_000_000

_REASONS: dict[str, Reason] = {reason: reason for reason in get_args(Reason)}
_SEAL = 64


class HandedCode(NamedTuple):
    """The code that was made for the phase at `place`, whose unit has the digest `unit`; why, and at which attempt."""

    place: int
    unit: str
    code: PhaseCode
    packed: bytes
    reason: Reason
    attempts: int


class Handoff(NamedTuple):
    """`damaged`: digests of bundles."""

    damaged: tuple[str, ...] = ()
    made: tuple[HandedCode, ...] = ()


NOTHING = Handoff()


def job_of(path: str, sha256_hex: str, setup: str, options: Options, catalog: str, known: Sequence[Record]) -> str:
    """Digest of all that a hand-off is good for: what decides the document's stages, and what is reported of them.

    `sha256_hex`: of the document; `setup`: of versions and options, see `record.Head`; `catalog`: its digest; `known`:
    the document's records, newest first.
    """
    last = sha256(known[0].to_bytes()).hexdigest() if known else ""
    return key("handoff", (path, sha256_hex, setup, options.reuse, options.rewrites, int(options.check), catalog, last))


def pack(handoff: Handoff, job: str) -> bytes:
    """`job`: the digest of all that it is good for. Code that would be too much is left out, and made again."""
    made = handoff.made if sum(len(entry.packed) for entry in handoff.made) < MAX_BYTES // 2 else ()
    head = (
        FORMAT,
        job,
        handoff.damaged[:MAX_DAMAGED],
        [(entry.place, entry.unit, entry.reason, entry.attempts, len(entry.packed)) for entry in made],
    )
    body = b"%s\n%s" % (encode(head).encode("ascii"), b"".join(entry.packed for entry in made))
    return sha256(body).hexdigest().encode("ascii") + body


def unpack(data: bytes | None, job: str) -> Handoff:
    """What `pack` wrote for that job; NOTHING for anything else."""
    if data is None or len(data) > MAX_BYTES or data[:_SEAL] != sha256(data[_SEAL:]).hexdigest().encode("ascii"):
        return NOTHING
    line, _, rest = data[_SEAL:].partition(b"\n")
    try:
        match decode(line):
            case [int(version), str(named), list(damaged), list(entries)] if (version, named) == (FORMAT, job):
                return Handoff(_digests(damaged), _made(entries, rest))
    except ValueError:
        pass
    return NOTHING


def _digests(entries: Sequence[object]) -> tuple[str, ...]:
    """Raises ValueError."""
    if len(entries) > MAX_DAMAGED:
        raise ValueError("too many")
    return tuple([_digest(entry) for entry in entries])


def _digest(value: object) -> str:
    if not isinstance(value, str) or len(value) != 64:
        raise ValueError("no digest")
    return value


def _made(entries: Sequence[object], rest: bytes) -> tuple[HandedCode, ...]:
    """Raises ValueError."""
    made: list[HandedCode] = []
    start = 0
    if len(entries) > MAX_PHASES:
        raise ValueError("too many")
    for entry in entries:
        match entry:
            case [int(place), unit, str(reason), int(attempts), int(size)] if (
                reason in _REASONS and 0 < attempts <= MAX_ATTEMPTS and 0 <= size <= len(rest) - start and place >= 0
            ):
                packed = rest[start : start + size]
                made.append(HandedCode(place, _digest(unit), codes.unpack(packed), packed, _REASONS[reason], attempts))
                start += size
            case _:
                raise ValueError("no phase")
    if start != len(rest):
        raise ValueError("of another length")
    return tuple(made)
