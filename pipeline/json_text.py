"""Encoders of JSON that are made once."""

from __future__ import annotations

import json
import json.encoder
from collections.abc import Callable
from typing import Any


def encoder(
    *, ascii_only: bool, sort_keys: bool, separators: tuple[str, str], allow_nan: bool = True
) -> Callable[[object], str]:
    """What `json.JSONEncoder.encode` does with these settings. It makes an encoder at every call, which takes as long
    as encoding most of what is encoded here: some twenty short values a document. Cycles are not looked for."""
    plain = json.JSONEncoder(
        ensure_ascii=ascii_only, sort_keys=sort_keys, separators=separators, allow_nan=allow_nan, check_circular=False
    )
    make: Any = getattr(json.encoder, "c_make_encoder", None)  # not of every Python, and in no stub
    if make is None:
        return plain.encode
    quote = json.encoder.encode_basestring_ascii if ascii_only else json.encoder.encode_basestring
    items, keys = separators
    pieces: Callable[[object, int], tuple[str, ...]] = make(
        None, plain.default, quote, None, keys, items, sort_keys, False, allow_nan
    )

    def encode(value: object) -> str:
        return "".join(pieces(value, 0))

    return encode
