"""`aop runs list`: apart from what drives runs, whose engine takes longer to load than all that is done here."""

from __future__ import annotations

import json

from aop_runtime.options import runs_of
from aop_runtime.runs.listing import listed
from cli import streams
from cli.exits import OK
from cli.messages import say
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible


def run_list(runs: str | None, lang: Lang, *, jsonl: bool) -> int:
    found = listed(runs_of(runs))
    if jsonl:
        for entry in found:
            streams.emit(f"{json.dumps(entry, ensure_ascii=False)}\n")
        return OK
    if not found:
        streams.emit(f"{say('runs.none', lang)}\n")
    for entry in found:
        streams.emit(
            f"{entry['run']}  {entry['status']:<11}  {visible(entry['procedure'])}  {visible(entry['input'])}\n"
        )
    return OK
