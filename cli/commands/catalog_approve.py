"""`aop catalog approve [TOOL[/OPERATION]…]`: take over into the lock what changed."""

from __future__ import annotations

from collections.abc import Sequence

from catalog.drift import Drift
from catalog.fold import fold
from catalog.lock_file import store_lock
from catalog.locking import accept
from cli import streams
from cli.arguments import Setting
from cli.drift_report import emit_json, emit_text, rows_of
from cli.exits import FAILED, OK, TROUBLE
from cli.lock_project import PATH, open_project
from cli.messages import say
from cli.trouble import Trouble


def run(targets: Sequence[str], setting: Setting, *, json: bool) -> int:
    """Without targets: everything. Status 1 where the policy blocks some of it.

    Raises Trouble for a target that has not drifted, Unusable, CatalogError, OSError.
    """
    lang = setting.lang
    project = open_project((), setting, needs_documents=False)
    lock = project.lock
    if lock is None:
        raise Trouble("lock.missing", path=str(PATH))
    if project.uses.broken:
        return TROUBLE
    for word in targets:
        if not any(_meant(word, drift) for drift, _ in project.drifts):
            raise Trouble("approve.no-drift", target=word)
    chosen = [row for row in project.drifts if not targets or any(_meant(word, row[0]) for word in targets)]
    done = accept(lock, [drift for drift, _ in chosen], project.catalog.tool)
    store_lock(PATH, done.lock, lock)
    accepted = rows_of([row for row in chosen if row[0] in done.accepted], "lock-catalog", lock.policy)
    blocked = rows_of([row for row in chosen if row[0] in done.blocked], "lock-catalog", lock.policy)
    if json:
        emit_json(blocked, approved=[{"target": row.drift.target, "kind": row.drift.kind} for row in accepted])
    else:
        for row in accepted:
            streams.emit(f"{say('approve.done', lang, target=row.drift.target, kind=row.drift.kind)}\n")
        if not chosen:
            streams.emit(f"{say('diff.no-drift', lang)}\n")
        emit_text(blocked, lang)
        for row in blocked:
            streams.note(f"aop: {say('approve.blocked', lang, target=row.drift.target, kind=row.drift.kind)}")
    return FAILED if blocked else OK


def _meant(word: str, drift: Drift) -> bool:
    tool, slash, operation = word.partition("/")
    return fold(tool) == fold(drift.tool) and (not slash or operation == drift.operation)
