"""Under which key a stage's runs are recorded: sha256 over canonical JSON of all that is known before the stage runs
(R1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "str | int | bool | Sequence[Json] | Mapping[str, Json] | None"

FORMAT = 1
"""Version of what this package stores. Raise it when an encoding changes its meaning: older entries are then not
found."""

_encoder = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"), check_circular=False)


def encode(value: Json) -> str:
    """Canonical JSON: sorted keys, no blanks, ASCII (so that a lone surrogate in a file's name has a form, too)."""
    return _encoder.encode(value)


def key(stage: str, version: str, inputs: Sequence[str], options: Sequence[Json] = ()) -> str:
    """The trace key, sha256 hex, of a run of `stage` at its own `version`.

    `inputs`: digests of the artifacts that it is given; `options`: what else decides its outcome.
    """
    return hashlib.sha256(_encoder.encode((FORMAT, stage, version, inputs, options)).encode("ascii")).hexdigest()
