"""Canonical JSON of everything that is stored or hashed (R1, R4): equal values have equal bytes, whatever made them.

A named tuple is the array of its fields' values, a tuple an array, the rest plain JSON: as JSON's own encoder writes
them. The field names are not in the bytes: a class that changes raises `SCHEMA_VERSION`, which is. What is read back
must be of the class's annotated types, to its last part.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from typing import Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from pipeline import json_text
from pipeline.artifacts import ResolvedDocument
from pipeline.garbage import uncollected
from pipeline.stages.versions import SCHEMA_VERSION

T = TypeVar("T")

_encode_json = json_text.encoder(ascii_only=False, sort_keys=False, separators=(",", ":"), allow_nan=False)


class UnreadableArtifact(ValueError):
    """Stored bytes are not the artifact they should be: damaged, or written by another version. Run the stage again."""


class _Unfit(ValueError):
    """A decoded value has not the shape that its class asks for."""


_REPEATED: dict[type, tuple[str, ...]] = {ResolvedDocument: ("pins", "contracts")}
"""Fields of named tuples whose elements' bytes are kept: the documents of a library use the same operations, whose
definitions are most of a resolved document."""


def dumps(value: tuple[object, ...]) -> bytes:
    """The canonical UTF-8 JSON of a named tuple of this project."""
    kind = type(value)
    if not hasattr(kind, "_fields"):
        raise TypeError(f"no canonical form for {kind!r}")
    repeated = _REPEATED.get(kind)
    with uncollected():  # a value has no cycles
        body = encoded(value) if repeated is None else _put_together(value, kind._fields, repeated)
    return named(kind.__name__, body)


def named(name: str, body: bytes) -> bytes:
    """The canonical bytes of a value whose class has that name, around those of its fields."""
    return b'["%b",%d,%b]' % (name.encode(), SCHEMA_VERSION, body)


def encoded(value: object) -> bytes:
    """The canonical JSON of tuples of plain values, without a name and a version."""
    return _encode_json(value).encode("utf-8", "surrogatepass")


_kept = lru_cache(maxsize=4096)(encoded)


def _put_together(value: tuple[object, ...], fields: Sequence[str], repeated: Sequence[str]) -> bytes:
    parts = []
    for name, part in zip(fields, value, strict=True):
        if name in repeated:
            parts.append(b"[%b]" % b",".join(map(_kept, cast("tuple[tuple[object, ...], ...]", part))))
        else:
            parts.append(encoded(part))
    return b"[%b]" % b",".join(parts)


def loads(data: bytes, kind: type[T]) -> T:
    """The value that `dumps` wrote. Raises UnreadableArtifact for anything else: nothing is guessed or left out."""
    name = kind.__name__
    try:
        envelope = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise UnreadableArtifact(f"{name}: not JSON ({error}); run the stage again") from error
    if not isinstance(envelope, list) or len(envelope) != 3 or envelope[:2] != [name, SCHEMA_VERSION]:
        raise UnreadableArtifact(f"{name}: not of this kind and schema version {SCHEMA_VERSION}; run the stage again")
    try:
        return cast(T, _decoder(cast(type, kind))(envelope[2]))
    except _Unfit as error:
        raise UnreadableArtifact(f"{name}: {error}; run the stage again") from error


def digest(value: tuple[object, ...]) -> str:
    """sha256 (hex) of the canonical bytes."""
    return sha256(dumps(value)).hexdigest()


# ----------------------------------------------------------------------------------------------- decoders

_Decoder: TypeAlias = Callable[[object], object]
"""From what JSON made of a value to the value. Raises _Unfit."""


@cache
def _decoder(kind: object) -> _Decoder:
    """Made when the first value of that type is read: looking up annotations takes long, and most compiles read none.

    Raises TypeError for a type that has no canonical form.
    """
    origin = get_origin(kind)
    if kind in (str, int, bool, types.NoneType):
        return _scalar(cast(type, kind))
    if origin is Literal:
        return _literal(get_args(kind))
    if origin is tuple:
        return _tuple(get_args(kind))
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple(kind, kind._fields)
    raise TypeError(f"no canonical form for {kind!r}")


def _scalar(kind: type) -> _Decoder:
    def decode(raw: object) -> object:
        if type(raw) is not kind:  # not isinstance: True is no int here
            raise _Unfit(f"a {kind.__name__} was expected, not {raw!r:.60}")
        return raw

    return decode


def _literal(values: tuple[object, ...]) -> _Decoder:
    def decode(raw: object) -> object:
        if not isinstance(raw, str) or raw not in values:
            raise _Unfit(f"one of {values} was expected, not {raw!r:.60}")
        return raw

    return decode


def _tuple(arguments: tuple[object, ...]) -> _Decoder:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _sequence(_decoder(arguments[0]))
    decoders = [_decoder(argument) for argument in arguments]

    def decode(raw: object) -> object:
        return tuple(_fields(raw, decoders))

    return decode


def _sequence(decoder: _Decoder) -> _Decoder:
    def decode(raw: object) -> object:
        if type(raw) is not list:
            raise _Unfit(f"an array was expected, not {raw!r:.60}")
        return tuple(map(decoder, raw))

    return decode


def _named_tuple(kind: type, fields: Sequence[str]) -> _Decoder:
    hints = get_type_hints(kind)
    decoders = [_decoder(hints[field]) for field in fields]

    def decode(raw: object) -> object:
        return kind(*_fields(raw, decoders))

    return decode


def _union(members: tuple[object, ...]) -> _Decoder:
    """Scalars, which tell themselves apart, and at most one kind of array."""
    scalars = {kind for kind in members if kind in (str, int, bool, types.NoneType)}
    others = [kind for kind in members if kind not in scalars]
    if len(others) > 1:
        raise TypeError(f"no canonical form for the union of {members!r}")
    other = _decoder(others[0]) if others else None

    def decode(raw: object) -> object:
        if type(raw) in scalars:
            return raw
        if other is not None:
            return other(raw)
        raise _Unfit(f"none of {members} fits {raw!r:.60}")

    return decode


def _fields(raw: object, decoders: Sequence[_Decoder]) -> list[object]:
    if type(raw) is not list or len(raw) != len(decoders):
        raise _Unfit(f"an array of {len(decoders)} was expected, not {raw!r:.60}")
    return [decoder(part) for decoder, part in zip(decoders, raw, strict=True)]
