"""The record of a document's compile: the trace of all its stages (R1).

It lets an unchanged document be answered with one read of the store, tells each stage of the next compile what this one
was given and made (`past`), and is what that compile compares with to say why something runs (R3).

A path's records are the traces of one key, newest first: an older one answers when an edit was taken back. Its bytes
are three lines of JSON: what tells whether a document is unchanged, its findings, and the rest, each decoded only when
it is asked for. What the compile made is a bundle of its own (`bundle`), which few compiles need to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

from pipeline.diagnostics.findings import Finding
from pipeline.incremental import keys
from pipeline.incremental.codec import findings_text, unpack_findings
from pipeline.incremental.keys import Json
from pipeline.incremental.reads import Reads, reads_from_json

Status: TypeAlias = Literal["succeeded", "failed"]

Kind: TypeAlias = Literal["multi", "single"]

Scope: TypeAlias = Literal["whole", "check", "survey"]
"""How far it went: through all stages, to the end of resolve, or of parse."""


class PhaseRecord(NamedTuple):
    """One phase of the compile. `unit`: the digest of its unit, "" where there is none (a call, a failed compile);
    `coded`: whether its code is in the bundle.

    `carried`: why code of another identity was kept, as R3's reasons; empty for code of the generator's own.
    """

    number: int | None
    unit: str
    coded: bool
    carried: tuple[str, ...] = ()


class Head(NamedTuple):
    """The first line. `document`: sha256 of its bytes; `setup`: digest of versions and options, but for `scope`.

    `catalog` and `project`: digests of the whole, "" where nothing was asked; `again`: whether something was carried
    over and must be verified again (R1); `receipt`: what publishing handed back, see `compiler.Publish`.
    """

    scope: Scope
    document: str
    setup: str
    status: Status
    kind: Kind | None
    name: str
    calls: tuple[str, ...]
    catalog: str
    project: str
    again: bool
    receipt: Json


class Tail(NamedTuple):
    """The third line. `versions`: by stage; `options`: of parse; `bundle`: the digest of what was made, and `parsed`,
    `resolved`, `module` those of its parts, "" for one that there is none of or that is not kept.

    `found`: how many of the findings are parse's, and how many after those resolve's; `proven`: whether verify had
    nothing to say about the module.
    """

    versions: dict[str, str]
    options: tuple[Json, ...]
    bundle: str
    parsed: str
    resolved: str
    module: str
    found: tuple[int, int]
    proven: bool
    phases: tuple[PhaseRecord, ...]
    reads: Reads | None


class Record:
    """One record. Immutable."""

    def __init__(self, head: Head, findings: tuple[Finding, ...] | bytes, tail: Tail | bytes) -> None:
        self.head = head
        self._findings = findings
        self._tail = tail

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All of them, as detected. Raises what `tail` does."""
        found = self._findings
        return unpack_findings(keys.decode(found)) if isinstance(found, bytes) else found

    @cached_property
    def tail(self) -> Tail:
        """Raises ValueError, TypeError, KeyError or IndexError for bytes that `to_bytes` did not write."""
        return self._tail if isinstance(self._tail, Tail) else _decode_tail(self._tail)

    def to_bytes(self) -> bytes:
        found, tail = self._findings, self._tail
        findings_line = found if isinstance(found, bytes) else findings_text(found).encode("ascii")
        tail_line = _encode_tail(tail) if isinstance(tail, Tail) else tail
        return b"%b\n%b\n%b" % (keys.encode(self.head).encode("ascii"), findings_line, tail_line)

    def with_receipt(self, receipt: Json) -> Record:
        """The same compile, published since."""
        return Record(self.head._replace(receipt=receipt), self._findings, self._tail)


def record_key(path: str) -> str:
    """The trace key of a path's records."""
    return keys.key("document", (path,))


def from_bytes(data: bytes) -> Record | None:
    """The record, None for bytes that are none: then the document counts as one that was never compiled."""
    try:
        head, findings, tail = data.split(b"\n")
        scope, document, setup, status, kind, name, calls, catalog, project, again, receipt = keys.decode(head)
        return Record(
            Head(scope, document, setup, status, kind, name, tuple(calls), catalog, project, again, receipt),
            findings,
            tail,
        )
    except (ValueError, TypeError):
        return None


def _encode_tail(tail: Tail) -> bytes:
    versions, options, bundle, parsed, resolved, module, found, proven, phases, reads = tail
    facts = (versions, options, (bundle, parsed, resolved, module), found, proven, phases)
    return keys.encode((facts, reads)).encode("ascii")


def _decode_tail(data: bytes) -> Tail:
    (versions, options, (bundle, parsed, resolved, module), (parse, resolve), proven, phases), reads = keys.decode(data)
    return Tail(
        versions,
        tuple(options),
        bundle,
        parsed,
        resolved,
        module,
        (parse, resolve),
        proven,
        # Version 0.1.0 wrote the digest of the code, or "".
        tuple(PhaseRecord(number, unit, bool(code), tuple(carried)) for number, unit, code, carried in phases),
        None if reads is None else reads_from_json(reads),
    )


def from_traces(traces: Sequence[bytes]) -> list[Record]:
    """Newest first; those that are none are left out."""
    return [record for record in map(from_bytes, traces) if record is not None]
