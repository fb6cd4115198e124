"""What a module was made from (O1): `manifest.json`, beside it. Its schema is `docs/manifest.schema.json`.

Lines of the document, its digest and the definitions of operations stand here and not in the module: a comment changes
the manifest alone (R1). No time, host or path is in it (R4). One entry a line, so that a diff shows what changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from hashlib import sha256 as _sha256
from json.encoder import encode_basestring as _quoted

from pipeline import canonical
from pipeline.artifacts import Contract, Grant, Handover, Module, ParsedDocument, Pin, ResolvedDocument, ResolvedPhase
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.json_text import encoder
from pipeline.places import Positions
from pipeline.result import handover_dict, phase_line, tool_dict
from pipeline.stages import versions
from pipeline.stages.versions import SCHEMA_VERSION

VERSION = 1
"""Raised when a reader of the earlier version would misread: a field gone, or of another meaning; not by new fields."""

_compact = encoder(ascii_only=False, sort_keys=False, separators=(", ", ": "))


def manifest(
    sha256: str,
    parsed: ParsedDocument,
    resolved: ResolvedDocument,
    positions: Positions,
    module: Module,
    generator: GeneratorIdentity,
    carried: Iterable[int] = (),
) -> bytes:
    """The manifest as a file holds it. `sha256`: of the document's bytes. `carried`: the places of the phases whose
    code was kept from another version of the generator (R3)."""
    head = (
        f'"version": {VERSION}',
        f'"document": {{"name": {_quoted(resolved.name)}, "kind": "{resolved.kind}", "sha256": "{sha256}"}}',
        f'"module": {{"sha256": "{module.sha256}"}}',
        f'"versions": {_versions(generator)}',
    )
    tail = (
        f'"fences": {_array(_fences(parsed, positions))}',
        f'"phases": {_array(_phases(resolved, positions, frozenset(carried)))}',
        f'"source_map": {_array(_source_map(parsed, resolved, positions, module))}',
    )
    # Most of a manifest is the catalog's, and is kept as bytes: so it is encoded once for all documents.
    entries = (
        ("{\n" + ",\n".join(head)).encode(),
        _catalogued(b'"tools": ', _tools(resolved.contracts)),
        _catalogued(b'"operations": ', _operations(resolved)),
        (",\n".join(tail) + "\n}\n").encode(),
    )
    return b",\n".join(entries)


def _array(lines: Iterable[str]) -> str:
    body = ",\n".join(lines)
    return f"[\n{body}\n]" if body else "[]"


def _catalogued(name: bytes, lines: Sequence[bytes]) -> bytes:
    return b"".join((name, b"[\n", b",\n".join(lines), b"\n]")) if lines else name + b"[]"


@lru_cache(maxsize=64)
def _versions(generator: GeneratorIdentity) -> str:
    identity = {"name": generator.name, "version": generator.version, "model": generator.model}
    return _compact({"artifacts": SCHEMA_VERSION, **versions.BY_STAGE, "generator": identity})


def _tools(contracts: Iterable[Contract]) -> list[bytes]:
    """How each tool in use is reached."""
    return [_tool(contract) for contract in contracts if not contract.operation]


@lru_cache(maxsize=1024)
def _tool(contract: Contract) -> bytes:
    """Cached: the documents of a library use the same tools."""
    return f'{{"tool": {_quoted(contract.tool)}, {contract.definition[1:]}'.encode()


def _operations(resolved: ResolvedDocument) -> list[bytes]:
    contracts = {(tool, operation): definition for tool, operation, definition in resolved.contracts if operation}
    if not contracts:
        return [_operation(pin, "{}") for pin in resolved.pins]
    return [_operation(pin, contracts.get((pin.tool, pin.operation), "{}")) for pin in resolved.pins]


@lru_cache(maxsize=4096)
def _operation(pin: Pin, contract: str) -> bytes:
    """Cached: the documents of a library use the same operations."""
    head = _compact(
        {"tool": pin.tool, "operation": pin.operation, "effect": pin.effect, "sha256": canonical.digest(pin)}
    )
    schema = pin.schema or "null"
    line = f'{head[:-1]}, "description": {_quoted(pin.description)}, "input_schema": {schema}, "contract": {contract}}}'
    return line.encode()


def _fences(parsed: ParsedDocument, positions: Positions) -> Iterator[str]:
    """All of the document's, in order: phases name them by index."""
    for language, text, anchor in parsed.fences:
        line = positions[anchor].line
        digest = _sha256(text.encode()).hexdigest()
        yield f'{{"line": {line}, "language": {_compact(language)}, "sha256": "{digest}"}}'


def _phases(resolved: ResolvedDocument, positions: Positions, carried: frozenset[int]) -> list[str]:
    return [_phase(phase, positions, place in carried) for place, phase in enumerate(resolved.phases)]


def _phase(phase: ResolvedPhase, positions: Positions, carried: bool) -> str:
    number, title, _, kind, calls, tools, fences, handovers = phase
    granted = ", ".join([_compact(tool_dict(grant)) if grant.options else _plain_tool(grant) for grant in tools])
    return (
        f'{{"number": {"null" if number is None else number}, "title": {_quoted(title)}, '
        f'"line": {phase_line(phase, positions)}, "kind": "{kind}", '
        f'"calls": {"null" if calls is None else _quoted(calls)}, "carried": {"true" if carried else "false"}, '
        f'"tools": [{granted}], "fences": [{", ".join(map(str, fences))}], '
        f'"handovers": {_handovers(handovers, positions) if handovers else "[]"}}}'
    )


def _handovers(handovers: Sequence[Handover], positions: Positions) -> str:
    return _compact(
        [
            {**handover_dict(handover, positions), "categories": handover.categories, "read_only": handover.read_only}
            | {"fence": handover.fence}
            for handover in handovers
        ]
    )


@lru_cache(maxsize=1024)
def _plain_tool(grant: Grant) -> str:
    """Cached: what a grant without options says is the catalog's, and the same in many documents."""
    return _compact(tool_dict(grant))


def _source_map(
    parsed: ParsedDocument, resolved: ResolvedDocument, positions: Positions, module: Module
) -> Iterator[str]:
    """From lines of the module to lines of the document, both inclusive: to a phase's heading, to a fence."""
    lines = {fence.anchor: fence.text.count("\n") for fence in parsed.fences}
    single = resolved.kind == "single"
    for first, last, anchor in module.source_map:
        span = positions[anchor]
        if anchor in lines:
            start, end = span.line, span.line + lines[anchor]
        elif single:
            start = end = 1
        else:
            start, end = span.line, span.end_line
        yield f'{{"generated": [{first}, {last}], "document": [{start}, {end}]}}'
