"""`aop catalog diff [FILE|FOLDER…]`: lock, catalog and live servers compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from catalog.drift import Drift, Facts, compare, facts_of
from catalog.errors import CatalogError
from catalog.fold import fold
from catalog.live import Limits
from catalog.load import load_layers
from catalog.mcp_connection import Connection
from catalog.model import Tool
from catalog.own import find_own
from cli import streams
from cli.arguments import Setting
from cli.documents import cache_folder
from cli.drift_report import Row, emit_json, emit_text, rows_of
from cli.exits import FAILED, OK, TROUBLE
from cli.live import config_of, connections, limits_of, take
from cli.lock_project import LockProject, open_project
from cli.messages import say
from cli.trouble import sentence


def run(names: Sequence[str], setting: Setting, *, live: bool, seconds: float | None, json: bool) -> int:
    """Status 0: no drift, 1: drift, 2: something could not be compared.

    Raises Trouble, Unusable, CatalogError, OSError.
    """
    config = config_of(setting) if live else None
    project = open_project(names, setting, needs_documents=False)
    rows = rows_of(project.drifts, "lock-catalog", project.policy)
    faults: list[CatalogError] = []
    if config is not None:
        rows += _live(project, setting, config, limits_of(seconds), faults)
    notes = [
        {"server": str(fault.arguments.get("server", "")), "message": fault.message(setting.lang)} for fault in faults
    ]
    for fault in faults:
        streams.note(f"aop: {sentence(fault, setting.lang)}")
    if json:
        emit_json(rows, lock=project.lock is not None, faults=notes)
    else:
        emit_text(rows, setting.lang)
        if project.lock is None and config is None:
            streams.note(say("diff.no-lock", setting.lang))
        if not rows and not faults:
            streams.emit(f"{say('diff.no-drift', setting.lang)}\n")
    if faults or project.uses.broken:
        return TROUBLE
    return FAILED if rows else OK


def _live(
    project: LockProject, setting: Setting, config: Path, limits: Limits, faults: list[CatalogError]
) -> Iterator[Row]:
    """Every server of the file beside the catalog's tool of its name."""
    own = find_own(Path(), setting.org)
    layers = load_layers(setting.catalog, setting.mcp_config, cache_folder(), own).tools
    for connection in connections(config, ()):
        tool = project.catalog.tool(connection.name)
        if tool is not None and tool.kind == "standard":
            continue  # what it may do is a table of the run-time's, not what its server lists
        if tool is None or tool.operations is None:
            streams.note(f"aop: {say('diff.never-imported', setting.lang, server=connection.name)}")
            continue
        try:
            listed = _listed(config, connection, limits)
        except CatalogError as fault:
            faults.append(fault)
            continue
        imported = layers[fold(tool.name)].place.layer == "imported"
        drifts = _compare(tool, listed, imported=imported)
        yield from rows_of([(drift, project.uses.touched(drift)) for drift in drifts], "catalog-server", project.policy)


class _Listed(NamedTuple):
    """`hint`: whether the server says that it only reads; None where it says nothing."""

    facts: Facts
    hint: bool | None


def _listed(config: Path, connection: Connection, limits: Limits) -> list[_Listed]:
    """What the server lists now, read as an import would read it. Raises CatalogError."""
    taken = take(config, connection, limits)
    hints = {entry.name: entry.read_only for entry in taken.listing.tools}
    return [_Listed(facts, hints[facts.name]) for facts in facts_of(taken.tool.operations or ())]


def _compare(tool: Tool, listed: Sequence[_Listed], *, imported: bool) -> tuple[Drift, ...]:
    """A curated entry has words and effects of its own: only a server that says outright that an operation writes
    speaks against them."""
    before = facts_of(tool.operations or ())
    known = {facts.name: facts for facts in before}
    now: list[Facts] = []
    for facts, hint in listed:
        own = known.get(facts.name)
        keeps = own is not None and not imported and hint is not False
        now.append(replace(facts, effect=own.effect) if own is not None and keeps else facts)
    found = compare(tool.name, before, tuple(known), now)
    return tuple(drift for drift in found if imported or drift.kind != "description-changed")
