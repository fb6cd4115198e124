"""What each MCP server listed when a run first asked it, kept in the run's folder.

A run that goes on in another process is held to the same list: what a server has changed in between is a change in the
middle of the run. Nothing here loads the SDK.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from aop_runtime.messages import reason
from aop_runtime.sources.protocol import SourceFault

LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a file: more than `limits.Limits` lets a server list, however it is written down."""


class OperationRecord(BaseModel):
    """The fields of `mcp_connection.LiveOperation`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    description: str
    input_schema: dict[str, JsonValue]
    output_schema: dict[str, JsonValue] | None
    read_only: bool | None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    version: Literal[1] = 1
    server: str
    operations: tuple[OperationRecord, ...]


class FirstLists:
    """Of one run. `folder`: made when it is needed, for its owner alone; None: nothing is kept."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def load(self, server: str) -> Sequence[OperationRecord] | None:
        """None: this run has not asked the server yet. Raises SourceFault."""
        if self._folder is None:
            return None
        path = self._path(self._folder, server)
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise SourceFault("list.kept-unreadable", path=str(path), reason=reason(error)) from error
        try:
            with os.fdopen(descriptor, "rb") as file:
                data = file.read(LARGEST + 1)
            found = _File.model_validate(json.loads(data)) if len(data) <= LARGEST else None
        except OSError as error:
            raise SourceFault("list.kept-unreadable", path=str(path), reason=reason(error)) from error
        except (ValueError, ValidationError, RecursionError) as error:
            raise SourceFault("list.kept-wrong", path=str(path)) from error
        if found is None or found.server != server:
            raise SourceFault("list.kept-wrong", path=str(path))
        return found.operations

    def keep(self, server: str, operations: Sequence[OperationRecord]) -> None:
        """Whole or not at all, and on the disk: the run relies on it from now on. Raises SourceFault."""
        if self._folder is None:
            return
        path = self._path(self._folder, server)
        partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
        # Not pydantic's JSON: a server may list half a character (a lone surrogate), which has no UTF-8.
        text = json.dumps(_File(server=server, operations=tuple(operations)).model_dump(), separators=(",", ":"))
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise SourceFault("list.unkept", path=str(path), reason=reason(error)) from error

    @staticmethod
    def _path(folder: Path, server: str) -> Path:
        """Names of servers are anything; those of files are not."""
        return folder / f"{sha256(server.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}.json"
