"""What `manifest.json` beside a compiled module pins: the definitions of the operations that the procedure may use."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError

from aop_runtime.faults import Fault
from aop_runtime.forms import first
from aop_runtime.messages import reason

VERSION = 1


class ManifestFault(Fault):
    """The manifest is missing, unreadable or of another version. The message says where and what to do."""


class _Closed(BaseModel):
    # A later version of the compiler may add fields; what this run-time needs is checked.
    model_config = ConfigDict(extra="ignore", frozen=True)


class Contract(_Closed):
    """What only a run needs to know of an operation (`docs/catalog.md`). `method` and what follows it: HTTP APIs."""

    output_schema: dict[str, JsonValue] | None = None
    confirm: Literal["always", "never"] | None = None
    idempotency_argument: str | None = None
    timeout_s: float | None = None
    permission: str | None = None
    method: str | None = None
    path: str | None = None
    mapping: dict[str, JsonValue] | None = None


class OperationPin(_Closed):
    """`input_schema` None: the catalog gave none."""

    tool: str
    operation: str
    effect: Literal["read", "write"]
    description: str
    input_schema: dict[str, JsonValue] | None = None
    contract: Contract = Contract()


class ServerPin(_Closed):
    """Where a tool's server is: `url`, or `command` with `args`. `credentials`: names of environment variables."""

    url: str | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    credentials: tuple[str, ...] = ()


class ToolPin(_Closed):
    tool: str
    kind: Literal["mcp", "http", "standard"]
    server: ServerPin | None = None


class _File(_Closed):
    version: int
    module: dict[str, str]
    operations: tuple[OperationPin, ...]
    tools: tuple[ToolPin, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """`operations` by tool and operation, `tools` by name, `module_sha256` of the module's bytes."""

    operations: Mapping[tuple[str, str], OperationPin] = field(hash=False)
    tools: Mapping[str, ToolPin] = field(hash=False)
    module_sha256: str = ""


def read_manifest(path: Path) -> Manifest:
    """Raises ManifestFault."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise ManifestFault("manifest.unreadable", path=str(path), reason=reason(error)) from error
    try:
        found = _File.model_validate(json.loads(raw))
    except ValidationError as error:
        where, problem = first(error)
        place = ".".join(map(str, where))
        raise ManifestFault("manifest.form", path=str(path), place=place, problem=problem) from error
    except (ValueError, RecursionError) as error:
        raise ManifestFault("manifest.json", path=str(path)) from error
    if found.version != VERSION:
        raise ManifestFault("manifest.version", path=str(path), found=found.version, known=VERSION)
    operations = {(pin.tool, pin.operation): pin for pin in found.operations}
    return Manifest(operations, {pin.tool: pin for pin in found.tools}, found.module.get("sha256", ""))
