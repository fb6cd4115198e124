"""Operations as the manifest pins them: which of them were granted, and the contract that their calls are held to."""

from __future__ import annotations

from aop_runtime.manifest import Manifest, OperationPin
from aop_runtime.plane.spec import DEFAULT_TIMEOUT_S, ToolSpec
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.sources.schemas import Schema, closed


def operation_pin(manifest: Manifest, tool: str, name: str, read_only: bool) -> OperationPin:
    """Raises SourceFault where the manifest does not say what was granted."""
    pin = manifest.operations.get((tool, name))
    if pin is None:
        raise SourceFault("pin.none", tool=tool, name=name)
    if read_only and pin.effect != "read":
        raise SourceFault("pin.writes", tool=tool, name=name)
    return pin


def spec_of(pin: OperationPin, schema: Schema) -> ToolSpec:
    """`schema`: the pinned one, or the server's where the catalog gave none."""
    contract = pin.contract
    key = contract.idempotency_argument
    return ToolSpec(
        name=pin.operation,
        tool=pin.tool,
        operation=pin.operation,
        description=pin.description,
        input_schema=closed(schema, () if key is None else (key,)),
        effect=pin.effect,
        output_schema=contract.output_schema,
        confirmation=contract.confirm or "rules",
        idempotency_argument=key,
        timeout_s=contract.timeout_s or DEFAULT_TIMEOUT_S,
    )
