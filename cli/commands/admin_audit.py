"""`aop admin audit`: who changed what."""

from __future__ import annotations

import json
from typing import Final

from cli import streams
from cli.administering import administered, moment
from cli.exits import OK
from cli.json_output import print_json
from cli.messages import say
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible

NEWEST: Final = 100


def run(lang: Lang, *, as_json: bool, newest: int = NEWEST) -> int:
    """The newest first. Raises OutputFault, StoreError."""
    with administered() as installation:
        entries = list(installation.audit.entries(newest))
    if as_json:
        print_json([entry.model_dump() for entry in entries])
        return OK
    if not entries:
        streams.emit(f"{say('admin.audit-none', lang)}\n")
    for entry in entries:
        streams.emit(
            f"{moment(entry.at_ms)}  {visible(entry.actor_name)} ({visible(entry.actor)})  "
            f"{visible(entry.action)}  {visible(entry.target)}\n"
        )
        for key, value in (("admin.audit-before", entry.before), ("admin.audit-after", entry.after)):
            if value is not None:
                streams.emit(f"    {say(key, lang)} {visible(json.dumps(value, ensure_ascii=False))}\n")
    return OK
