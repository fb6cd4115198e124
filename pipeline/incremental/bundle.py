"""What one compile of a document made, packed into one blob: its artifacts, and the positions beside them.

Small entries are dear, as rows of a database and as objects behind a network; so a document has one of these, verified
by one digest, and its record says what the parts are. Each part is decoded when it is asked for.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from pipeline.incremental.keys import decode, encode
from pipeline.places import Positions, Span

if TYPE_CHECKING:
    from pipeline.artifacts import Module


class Bundle(NamedTuple):
    """The parts' bytes, b"" for one that there is none of. `parsed` and `resolved` are canonical JSON."""

    parsed: bytes = b""
    positions: bytes = b""
    resolved: bytes = b""
    module: bytes = b""

    def to_bytes(self) -> bytes:
        """The sizes on a line of their own, then the parts one after another."""
        return b"%s\n%s" % (encode([len(part) for part in self]).encode("ascii"), b"".join(self))


def from_bytes(data: bytes) -> Bundle:
    """What `to_bytes` wrote. Raises ValueError for anything else."""
    line, end, rest = data.partition(b"\n")
    sizes = decode(line)
    if not end or len(sizes) != len(Bundle._fields):
        raise ValueError("not a bundle")
    parts: list[bytes] = []
    start = 0
    for size in sizes:
        parts.append(rest[start : start + size])
        start += size
    if start != len(rest):
        raise ValueError("a bundle of another length")
    return Bundle(*parts)


def digest(part: bytes) -> str:
    """A part's digest, by which the work behind it is found; "" for none."""
    return sha256(part).hexdigest() if part else ""


def pack_positions(positions: Positions) -> bytes:
    return encode(positions).encode("ascii")


def unpack_positions(data: bytes) -> Positions:
    """Raises ValueError or TypeError for bytes that `pack_positions` did not write."""
    return tuple([Span(*span) for span in decode(data)])


def pack_module(module: Module) -> bytes:
    """Its map on a line of its own, then its source as it is: that is most of a bundle."""
    return f"{encode(module.source_map)}\n{module.source}".encode("utf-8", "surrogatepass")


def unpack_module(data: bytes) -> Module:
    """Raises ValueError or TypeError for bytes that `pack_module` did not write."""
    from pipeline.artifacts import Module  # noqa: PLC0415 - an unchanged document is answered without

    line, _, source = data.decode("utf-8", "surrogatepass").partition("\n")
    return Module(source, tuple([(first, last, anchor) for first, last, anchor in decode(line)]))
