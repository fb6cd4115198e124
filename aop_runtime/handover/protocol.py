"""What a script and we say to each other: a line of JSON a call, one an answer. The script is not trusted."""

from __future__ import annotations

import json
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import Envelope

_LONGEST_NAME: Final = 256
_DEEPEST: Final = 64


class Malformed(Exception):
    """What `client.js` never sends: the script went past it. The message says what is wrong."""


class Request(BaseModel):
    """One call."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: int = Field(ge=0, le=2**53)
    tool: str = Field(max_length=_LONGEST_NAME)
    operation: str = Field(max_length=_LONGEST_NAME)
    arguments: dict[str, JsonValue]


def request(line: bytes) -> Request:
    """Raises Malformed."""
    try:
        found = Request.model_validate_json(line)
        # Numbers that JSON does not have, and halves of characters, are not for tools.
        json.dumps(found.arguments, ensure_ascii=False, allow_nan=False).encode()
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(map(str, first["loc"]))[:100]
        raise Malformed(f"a call is not well-formed: {where + ': ' if where else ''}{first['msg'][:200]}") from error
    except (ValueError, RecursionError) as error:
        raise Malformed("the arguments of a call hold what JSON cannot") from error
    if _depth(found.arguments) > _DEEPEST:
        raise Malformed(f"the arguments of a call are nested deeper than {_DEEPEST} levels")
    return found


def _depth(value: JsonValue) -> int:
    """Levels of lists and objects."""
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        found, level = waiting.pop()
        inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else None
        if inner is not None:
            deepest = max(deepest, level)
            waiting += [(each, level + 1) for each in inner]
    return deepest


def answer(id_: int, envelope: Envelope) -> bytes:
    """The structured result of the call, or else its text."""
    said: dict[str, Json] = {"id": id_, "ok": envelope.ok}
    if envelope.error is None:
        said["result"] = envelope.content if envelope.structured is None else envelope.structured
    else:
        error = envelope.error
        said["error"] = {"code": error.code, "message": error.message, "details": dict(error.details)}
    # In ASCII: a result may hold halves of characters, which UTF-8 has no bytes for.
    return json.dumps(said).encode("ascii") + b"\n"
