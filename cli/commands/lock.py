"""`aop lock [FILE|FOLDER…]`: pin the operations that the documents use."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.lock_file import store_lock
from catalog.locking import renew
from cli import streams
from cli.arguments import Setting
from cli.drift_report import emit_json, emit_text, rows_of
from cli.exits import FAILED, OK, TROUBLE
from cli.lock_project import PATH, open_project
from cli.messages import say


def run(names: Sequence[str], setting: Setting, *, json: bool) -> int:
    """Status 1 where documents have errors (then nothing is written), or where something drifted: that stays as it was
    pinned until it is approved. Raises Trouble, Unusable, CatalogError, OSError."""
    lang = setting.lang
    project = open_project(names, setting, needs_documents=True)
    if project.uses.broken:
        return TROUBLE
    # A tool that is gone makes errors of its own; they are what the drift says.
    gone = {drift.tool for drift, _ in project.drifts if drift.kind in ("tool-removed", "tool-renamed")}
    failing = [
        document.path
        for document in project.uses.documents
        if document.errors > sum(name in gone for name, _ in document.unknown)
    ]
    if failing:
        for path in failing:
            streams.note(f"aop: {say('lock.errors', lang, path=path)}")
        return FAILED
    used = project.uses.operations()
    drifts = [drift for drift, _ in project.drifts]
    lock = renew(project.lock, project.names, used, project.catalog.tool, drifts)
    written = store_lock(PATH, lock, project.lock)
    policy = lock.policy
    rows = rows_of(project.drifts, "lock-catalog", policy)
    operations = sum(len(tool.operations) for tool in lock.tools)
    if json:
        emit_json(rows, lock=str(PATH), written=written, tools=len(lock.tools), operations=operations)
    else:
        emit_text(rows, lang)
        key = "lock.written" if written else "lock.same"
        streams.emit(f"{say(key, lang, path=str(PATH), tools=len(lock.tools), operations=operations)}\n")
        if rows:
            streams.note(say("lock.drifted", lang, count=len(rows)))
    return FAILED if rows else OK
