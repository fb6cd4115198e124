"""A call that ends before its handler is started."""

from __future__ import annotations

from collections.abc import Mapping

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import CallError, ErrorCode


class Refused(Exception):
    """The call ends here, with this error."""

    def __init__(self, code: ErrorCode, message: str, details: Mapping[str, Json] | None = None) -> None:
        super().__init__(message)
        self.error = CallError(code=code, message=message, details=dict(details or {}))
