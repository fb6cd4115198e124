"""JSON bodies and query strings, read into closed models; a fault is a 400 that names the field."""

from __future__ import annotations

from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue, StringConstraints, ValidationError
from pydantic_core import from_json
from starlette.requests import Request

from server.errors import ApiError, BadDocumentId
from workers.identifiers import InvalidDocumentId, check_document_id

M = TypeVar("M", bound=BaseModel)

_MOST_FAULTS: Final = 10
_MOST_PATH: Final = 200


class Closed(BaseModel):
    """What is ours: a field that we do not know is a mistake of who sent it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Open(BaseModel):
    """What another system defines: only the fields that matter are read."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else value


Revision = Annotated[str, BeforeValidator(_number_as_text), StringConstraints(min_length=1, max_length=200)]
"""A revision as its source writes it; a number is one, too."""


def read_json(data: bytes) -> object:
    """Raises ApiError 400."""
    try:
        value: object = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        # The parser's words hold a place, never a part of the text.
        raise ApiError("invalid_input", "not-json", details={"path": ""}, detail=str(error)) from None
    return value


def read_model(kind: type[M], value: object, prefix: str = "") -> M:
    """`prefix`: where `value` stands in the body. Raises ApiError 400."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False, include_input=False)[:_MOST_FAULTS]
        shown: list[dict[str, JsonValue]] = [
            {"path": path_of(fault["loc"], prefix), "problem": fault["msg"]} for fault in faults
        ]
        raise ApiError(
            "invalid_input",
            "field",
            details={"path": shown[0]["path"], "faults": list(shown)},
            path=path_of(faults[0]["loc"], prefix) or "body",
            detail=faults[0]["msg"],
        ) from None


def path_of(location: tuple[int | str, ...], prefix: str = "") -> str:
    """`data.object.bucket`, `Records[0].s3`. Bounded: whoever sends a name of a megabyte does not get it back."""
    path = prefix
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else str(part)
    return path if len(path) <= _MOST_PATH else f"{path[:_MOST_PATH]}…"


def read_document_id(text: str, path: str) -> str:
    """`path`: of the field. Raises ApiError 400."""
    try:
        return check_document_id(text)
    except InvalidDocumentId as fault:
        raise BadDocumentId(fault, path) from None


def read_query(kind: type[M], request: Request) -> M:
    """Each parameter once. Raises ApiError 400."""
    pairs = request.query_params.multi_items()
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ApiError(
                "invalid_input", "field", details={"path": f"query.{name}"}, path=f"query.{name}", detail="twice"
            )
    return read_model(kind, dict(pairs), "query")
