"""What one compile of a document made, packed into one blob: its artifacts, and the positions beside them.

Small entries are dear, as rows of a database and as objects behind a network; so a document has one of these, verified
by one digest, and its record says what the parts are. Each part is decoded when it is asked for. The module is there as
the code of its phases: linking puts it together again in less time than storing it takes.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import chain
from struct import Struct, pack
from typing import Final, NamedTuple

from pipeline.incremental.keys import decode, encode
from pipeline.places import Positions, Span

_COUNT: Final = 4
_SPAN: Final = Struct(f"<{len(Span._fields)}I")


class Bundle(NamedTuple):
    """The parts' bytes, b"" for one that there is none of. `parsed` and `resolved` are canonical JSON; `codes` those of
    the phases in the document's order, each as `code.signed` has it."""

    parsed: bytes = b""
    positions: bytes = b""
    resolved: bytes = b""
    codes: tuple[bytes, ...] = ()

    def to_bytes(self) -> bytes:
        """The sizes on a line of their own, then the parts one after another."""
        parts = (*self[:3], *self.codes)
        return b"%s\n%s" % (encode([len(part) for part in parts]).encode("ascii"), b"".join(parts))


def from_bytes(data: bytes) -> Bundle:
    """What `to_bytes` wrote. Raises ValueError for anything else."""
    line, end, rest = data.partition(b"\n")
    sizes = decode(line)
    if not end or len(sizes) < len(Bundle._fields) - 1:
        raise ValueError("not a bundle")
    parts: list[bytes] = []
    start = 0
    for size in sizes:
        parts.append(rest[start : start + size])
        start += size
    if start != len(rest):
        raise ValueError("a bundle of another length")
    parsed, positions, resolved, *codes = parts
    return Bundle(parsed, positions, resolved, tuple(codes))


def digest(part: bytes) -> str:
    """A part's digest, by which the work behind it is found; "" for none."""
    return sha256(part).hexdigest() if part else ""


def pack_positions(positions: Positions) -> bytes:
    """How many there are, and the numbers of all one after another, each in four bytes: no document needs more."""
    numbers = list(chain.from_iterable(positions))
    return pack(f"<{1 + len(numbers)}I", len(positions), *numbers)


def unpack_positions(data: bytes) -> Positions:
    """Raises ValueError for bytes that `pack_positions` did not write."""
    count, numbers = data[:_COUNT], data[_COUNT:]
    if len(count) < _COUNT or int.from_bytes(count, "little") * _SPAN.size != len(numbers):
        raise ValueError("not positions")
    return tuple(map(Span._make, _SPAN.iter_unpack(numbers)))
