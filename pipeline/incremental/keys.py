"""Under which key a stage's runs are recorded: sha256 over canonical JSON of all that is known before it runs (R1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from pipeline.generators.protocol import GeneratorIdentity
from pipeline.json_text import encoder
from pipeline.stages.versions import SCHEMA_VERSION

Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"

Packed: TypeAlias = Sequence[Any]
"""An array as `json.loads` gives it, which types nothing: only what `encode` wrote here is ever unpacked."""

FORMAT = 7
"""Version of what this package stores. Raise it when an encoding changes its meaning: then older ones are not found."""

_encode = encoder(ascii_only=True, sort_keys=True, separators=(",", ":"))

quote = json.encoder.encode_basestring_ascii
"""A string as `encode` writes it."""


def encode(value: Json) -> str:
    """Canonical JSON: sorted keys, no blanks, ASCII (so that a lone surrogate in a file's name has a form, too)."""
    return _encode(value)


def decode(data: str | bytes) -> Packed:
    """The array that `encode` wrote. Raises ValueError for bytes that are none, or nested too deeply."""
    try:
        value: object = json.loads(data)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, list):
        raise ValueError("not an array")
    return value


def identity_text(identity: GeneratorIdentity) -> str:
    """A generator's identity as records and code name it."""
    return encode((identity.name, identity.version, identity.model))


def key(kind: str, parts: Iterable[str | int]) -> str:
    """The trace key, sha256 hex, of what is recorded for these parts."""
    # What `encode` would write, put together by hand: a compile makes a dozen keys.
    texts = [quote(part) if isinstance(part, str) else str(part) for part in parts]
    return hashlib.sha256(f"[{FORMAT},{quote(kind)},{','.join(texts)}]".encode("ascii")).hexdigest()


def stage_key(stage: str, version: str, inputs: Iterable[str], options: Iterable[str | int] = ()) -> str:
    """The key of a run of `stage` at its own `version`, reading and writing artifacts of this schema.

    `inputs`: digests of the artifacts that it is given; `options`: what else decides its outcome.
    """
    return key(stage, (version, SCHEMA_VERSION, *inputs, *options))
