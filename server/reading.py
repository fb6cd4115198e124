"""JSON bodies and query strings, read into closed models; a fault is a 400 that names the field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError, model_validator
from pydantic_core import from_json
from starlette.requests import Request

from server.errors import BadDocumentId
from server.faults import MOST_FAULTS, Fault, Malformed, faults_of, fields_of, json_fault, pointer
from workers.identifiers import InvalidDocumentId, check_document_id

M = TypeVar("M", bound=BaseModel)


def few_unknown(kind: type[BaseModel]) -> Callable[[object], object]:
    """Leaves of a value for the closed `kind` no more fields that it does not know than are told: each is a fault, and
    a body has room for a million."""

    def kept(value: object) -> object:
        if not isinstance(value, dict) or len(value) <= len(fields := fields_of(kind)) + MOST_FAULTS:
            return value
        known = {name: value[name] for name in fields if name in value}
        return known | dict(islice(((name, value[name]) for name in value if name not in fields), MOST_FAULTS))

    return kept


class Closed(BaseModel):
    """What is ours: a field that we do not know is a mistake of who sent it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, value: object) -> object:
        return few_unknown(cls)(value)


class Open(BaseModel):
    """What another system defines: only the fields that matter are read."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


def _number_as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else value


Revision = Annotated[str, BeforeValidator(_number_as_text), StringConstraints(min_length=1, max_length=200)]
"""A revision as its source writes it; a number is one, too."""


def read_json(data: bytes) -> object:
    """Raises Malformed."""
    try:
        value: object = from_json(data, allow_inf_nan=False)
    except ValueError as error:
        raise Malformed(json_fault(data, error)) from None
    return value


def read_model(kind: type[M], value: object, at: str = "") -> M:
    """`at`: where `value` stands in the body, as a JSON pointer. Raises Malformed."""
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise Malformed(*faults_of(error, kind, value, at)) from None


def read_document_id(text: str, path: str) -> str:
    """`path`: of the field. Raises ApiError 400."""
    try:
        return check_document_id(text)
    except InvalidDocumentId as fault:
        raise BadDocumentId(fault, path) from None


def read_query(kind: type[M], request: Request) -> M:
    """Each parameter once. Raises Malformed."""
    given: dict[str, str] = {}
    for name, value in request.query_params.multi_items():
        if name in given:
            raise Malformed(Fault(f"query.{pointer((name,))[1:]}", "more than once"))
        given[name] = value
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        faults = faults_of(error, kind, given)
        raise Malformed(*(replace(fault, path=f"query.{fault.path[1:]}") for fault in faults)) from None
