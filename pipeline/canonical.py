"""Canonical JSON of everything that is stored or hashed (R1, R4): equal values have equal bytes, whatever made them.

A value's class becomes its *shape*: the fields of the named tuple or dataclass, read once from its annotations when it
is first used. It is the array of its fields' values, a tuple an array, the rest plain JSON. The field names are not in
the bytes: a class that changes raises `SCHEMA_VERSION`, which is.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Callable, Hashable, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from operator import attrgetter
from typing import Literal, NamedTuple, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

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


_Encode: TypeAlias = Callable[[object], object]


class _Shape(NamedTuple):
    """`encode` None: JSON's own encoder already writes the value as it must be. `data`: all of its bytes, where there
    is a shorter way than to encode it."""

    encode: _Encode | None
    decode: Callable[[object], object]
    data: Callable[[object], bytes] | None = None


_REPEATED: dict[type, tuple[str, ...]] = {ResolvedDocument: ("pins", "contracts")}
"""Fields of named tuples whose elements' bytes are kept: the documents of a library use the same operations, whose
definitions are most of a resolved document."""


def dumps(value: object) -> bytes:
    """The canonical UTF-8 JSON of a dataclass of this project, or of a tuple of such (`dumps_as` names its type)."""
    return dumps_as(value, type(value))


def dumps_as(value: object, kind: object) -> bytes:
    """Like `dumps`, for values whose class does not tell their type, such as `Positions`."""
    with uncollected():  # a value has no cycles, nor have the rows that it becomes
        body = _data(_shape(kind), value)
    return named(_name(kind), body)


def named(name: str, body: bytes) -> bytes:
    """The canonical bytes of a value whose class has that name, around those of its fields."""
    return b'["%b",%d,%b]' % (name.encode(), SCHEMA_VERSION, body)


def _data(shape: _Shape, value: object) -> bytes:
    if shape.data is not None:
        return shape.data(value)
    return encoded(value if shape.encode is None else shape.encode(value))


def encoded(value: object) -> bytes:
    """The canonical JSON of tuples of plain values, without a name and a version."""
    return _encode_json(value).encode("utf-8", "surrogatepass")


def loads(data: bytes, kind: type[T]) -> T:
    """The value that `dumps` wrote. Raises UnreadableArtifact for anything else: nothing is guessed or left out."""
    return cast(T, loads_as(data, kind))


def loads_as(data: bytes, kind: object) -> object:
    """Like `loads`, for types that are no class. Raises UnreadableArtifact."""
    name = _name(kind)
    try:
        envelope = json.loads(data.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise UnreadableArtifact(f"{name}: not JSON ({error}); run the stage again") from error
    if not isinstance(envelope, list) or len(envelope) != 3 or envelope[:2] != [name, SCHEMA_VERSION]:
        raise UnreadableArtifact(f"{name}: not of this kind and schema version {SCHEMA_VERSION}; run the stage again")
    try:
        return _shape(kind).decode(envelope[2])
    except _Unfit as error:
        raise UnreadableArtifact(f"{name}: {error}; run the stage again") from error


def digest(value: object) -> str:
    """sha256 (hex) of the canonical bytes."""
    return sha256(dumps(value)).hexdigest()


# ------------------------------------------------------------------------------------------------- shapes

_SHAPES: dict[object, _Shape] = {}


def _shape(kind: object) -> _Shape:
    shape = _SHAPES.get(kind)
    if shape is None:
        shape = _SHAPES[kind] = _build(kind)
    return shape


@cache
def _name(kind: object) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind)


def _build(kind: object) -> _Shape:
    origin = get_origin(kind)
    if kind in (str, int, bool, types.NoneType):
        return _scalar(cast(type, kind))
    if origin is Literal:
        return _literal(get_args(kind))
    if origin is tuple:
        return _tuple(get_args(kind))
    if origin in (Union, types.UnionType):
        return _union(get_args(kind))
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return _record(kind, [field.name for field in dataclasses.fields(kind)])
    if isinstance(kind, type) and issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple(kind, kind._fields)
    raise TypeError(f"no canonical form for {kind!r}")


def _scalar(kind: type) -> _Shape:
    def decode(raw: object) -> object:
        if type(raw) is not kind:  # not isinstance: True is no int here
            raise _Unfit(f"a {kind.__name__} was expected, not {raw!r:.60}")
        return raw

    return _Shape(None, decode)


def _literal(values: tuple[object, ...]) -> _Shape:
    def decode(raw: object) -> object:
        if not isinstance(raw, str) or raw not in values:
            raise _Unfit(f"one of {values} was expected, not {raw!r:.60}")
        return raw

    return _Shape(None, decode)


def _tuple(arguments: tuple[object, ...]) -> _Shape:
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return _sequence(_shape(arguments[0]))
    encoders = [_shape(argument).encode for argument in arguments]
    decoders = [_shape(argument).decode for argument in arguments]

    def encode(value: tuple[object, ...]) -> object:
        return [part if encoder is None else encoder(part) for encoder, part in zip(encoders, value, strict=True)]

    def decode(raw: object) -> object:
        return tuple([decoder(part) for decoder, part in zip(decoders, _row(raw, len(decoders)), strict=True)])

    return _Shape(cast("_Encode", encode) if any(encoders) else None, decode)


def _sequence(element: _Shape) -> _Shape:
    encoder, decoder, _ = element

    def decode(raw: object) -> object:
        if type(raw) is not list:
            raise _Unfit(f"an array was expected, not {raw!r:.60}")
        return tuple(map(decoder, raw))

    if encoder is None:
        return _Shape(None, decode)

    def encode(value: tuple[object, ...]) -> object:
        return list(map(encoder, value))

    return _Shape(cast("_Encode", encode), decode)


_kept = lru_cache(maxsize=4096)(encoded)


def _named_tuple(kind: type, fields: tuple[str, ...]) -> _Shape:
    """The array of its fields, as JSON's own encoder writes it: it holds no dataclass. What its fields are is looked up
    when one is read, which takes long, and which most programs never do."""
    repeated = frozenset(_REPEATED.get(kind, ()))

    @cache
    def record() -> _Shape:
        shape = _record(kind, list(fields))
        if shape.encode is not None:
            raise TypeError(f"{kind!r} holds what JSON cannot write")
        return shape

    def data(value: object) -> bytes:
        parts = zip(fields, cast("tuple[tuple[Hashable, ...], ...]", value), strict=True)
        written = [b"[%b]" % b",".join(map(_kept, part)) if name in repeated else encoded(part) for name, part in parts]
        return b"[%b]" % b",".join(written)

    return _Shape(None, lambda raw: record().decode(raw), data if repeated else None)


def _record(kind: type, fields: list[str]) -> _Shape:
    """A dataclass or named tuple as the array of its fields."""
    hints = get_type_hints(kind)
    shapes = [_shape(hints[field]) for field in fields]
    nested = [(place, shape.encode) for place, shape in enumerate(shapes) if shape.encode is not None]
    decoders = [shape.decode for shape in shapes]
    count = len(fields)
    # An attrgetter of one name gives no tuple.
    plain: Callable[[object], tuple[object, ...]]
    plain = attrgetter(*fields) if count > 1 else lambda value: (getattr(value, fields[0]),)

    def encode(value: object) -> object:
        row = list(plain(value))
        for place, encoder in nested:
            row[place] = encoder(row[place])
        return row

    def decode(raw: object) -> object:
        return kind(*[decoder(part) for decoder, part in zip(decoders, _row(raw, count), strict=True)])

    if nested:
        return _Shape(encode, decode)
    return _Shape(None if issubclass(kind, tuple) else plain, decode)


def _union(members: tuple[object, ...]) -> _Shape:
    """Scalars, which tell themselves apart, and at most one kind of array."""
    scalars = {kind for kind in members if kind in (str, int, bool, types.NoneType)}
    others = [kind for kind in members if kind not in scalars]
    if len(others) > 1:
        raise TypeError(f"no canonical form for the union of {members!r}")
    other = _shape(others[0]) if others else None
    encoder = None if other is None else other.encode

    def decode(raw: object) -> object:
        if type(raw) in scalars:
            return raw
        if other is not None:
            return other.decode(raw)
        raise _Unfit(f"none of {members} fits {raw!r:.60}")

    if encoder is None:
        return _Shape(None, decode)

    def encode(value: object) -> object:
        return value if type(value) in scalars else encoder(value)

    return _Shape(encode, decode)


def _row(raw: object, count: int) -> Sequence[object]:
    if type(raw) is not list or len(raw) != count:
        raise _Unfit(f"an array of {count} was expected, not {raw!r:.60}")
    return raw
