"""What pydantic finds wrong with a file, in words of ours: its own are English only."""

from __future__ import annotations

from typing import Final

from pydantic import ValidationError

from aop_runtime.messages import Message

_KEYS: Final = {
    "missing": "form.missing",
    "extra_forbidden": "form.unknown",
    "literal_error": "form.not-one-of",
    "enum": "form.not-one-of",
    "string_type": "form.text",
    "int_type": "form.number",
    "float_type": "form.number",
    "bool_type": "form.bool",
    "list_type": "form.list",
    "tuple_type": "form.list",
    "dict_type": "form.mapping",
    "model_type": "form.mapping",
    "model_attributes_type": "form.mapping",
    "string_too_short": "form.empty",
    "string_too_long": "form.too-long",
    "too_long": "form.too-many",
    "one-action": "form.one-action",
    "empty-turn": "form.empty-turn",
}
_BLANKS: Final = {"form.not-one-of": "expected", "form.too-long": "max_length", "form.too-many": "max_length"}


def first(error: ValidationError) -> tuple[tuple[str | int, ...], Message]:
    """Where the first mistake is, and what is wrong there; nothing of the value."""
    found = error.errors(include_url=False, include_input=False)[0]
    key = _KEYS.get(found["type"])
    if key is None:
        return found["loc"], Message("form.other", said=found["msg"])
    blank = _BLANKS.get(key)
    return found["loc"], Message(key) if blank is None else Message(key, wanted=str(found.get("ctx", {}).get(blank)))
