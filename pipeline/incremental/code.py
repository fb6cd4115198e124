"""A phase's generated code as it is stored: who made it, where its slots are, and its text as it is."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from pipeline.artifacts import CodePiece, FenceSlot, NumberSlot, ParsedDocument, PhaseCode, Section
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental.keys import decode, identity_text
from pipeline.stages.generate import MAX_INSTRUCTIONS


class SignedCode(NamedTuple):
    """Packed code, and the identity of the generator that made it."""

    maker: GeneratorIdentity
    packed: bytes


def pack(code: PhaseCode) -> bytes:
    """The pieces on a line of their own, each text as its length in characters; then the texts, one after another."""
    pieces: list[str] = []
    texts: list[str] = []
    for piece in code.source:
        if isinstance(piece, str):
            pieces.append(str(len(piece)))
            texts.append(piece)
        elif isinstance(piece, FenceSlot):
            pieces.append(f'["{piece.scope}",{piece.fence},"{piece.form}",{piece.indent}]')
        else:
            pieces.append(f'"{piece.slot}"')
    return "".join((f"[{','.join(pieces)}]\n", *texts)).encode("utf-8", "surrogatepass")


def unpack(packed: bytes) -> PhaseCode:
    """The code whose packed form that is. Raises ValueError for other bytes."""
    line, _, text = packed.decode("utf-8", "surrogatepass").partition("\n")
    source: list[CodePiece] = []
    start = 0
    for piece in decode(line):
        match piece:
            case int() if piece >= 0:
                source.append(text[start : start + piece])
                start += piece
            case "number":
                source.append(NumberSlot())
            case ["own" | "shared" as scope, int(index), "instructions" | "text" as form, int(indent)]:
                source.append(FenceSlot(scope, index, form, indent))
            case _:
                raise ValueError(f"no piece of code: {piece!r:.60}")
    if start != len(text):
        raise ValueError("code of another length")
    return PhaseCode(tuple(source))


def signed(maker: GeneratorIdentity, packed: bytes) -> bytes:
    """Who made it on a line of its own, then the code."""
    return b"%s\n%s" % (_signature(maker), packed)


def from_signed(data: bytes) -> SignedCode:
    """What `signed` wrote. Raises ValueError for other bytes; the code itself may still be none."""
    line, _, packed = data.partition(b"\n")
    return SignedCode(_maker(line), packed)


@lru_cache(maxsize=64)
def _signature(maker: GeneratorIdentity) -> bytes:
    return identity_text(maker).encode("ascii")


def _maker(signature: bytes) -> GeneratorIdentity:
    """Raises ValueError."""
    match decode(signature):
        case [str(name), str(version), str(model)]:
            return GeneratorIdentity(name, version, model)
        case _:
            raise ValueError("nobody's code")


def fits(code: PhaseCode, section: Section, document: ParsedDocument) -> bool:
    """Whether link can write it without writing more than a document may ask for: slots may name one long fence again
    and again."""
    places = {"own": section.fences, "shared": document.outside.fences}
    size = 0
    for piece in code.source:
        if isinstance(piece, FenceSlot) and 0 <= piece.fence < len(places[piece.scope]):
            text = document.fences[places[piece.scope][piece.fence]].text
            if piece.indent < 0:
                return False
            size += len(text) + (text.count("\n") + 2) * (piece.indent + 8)
        if size > 2 * MAX_INSTRUCTIONS:
            return False
    return True
