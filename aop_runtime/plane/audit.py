"""The audit hook: one line of JSON for each call, with what was asked for, what was decided and how it ended."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.hooks import Hook, HookCall
from aop_runtime.plane.permission import Verdict

_LONGEST: Final = 2_000
_LONGEST_NAME: Final = 200


class Audit(Hook):
    """Appends to `path` (made with mode 0600). `hide`: takes secrets out of a JSON value.

    It is there so that a person can see later what was done; what a resume needs is the run's journal.
    """

    name = "audit"

    def __init__(self, path: Path, hide: Callable[[Json], Json], clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._hide = hide
        self._clock = clock

    async def decided(self, call: HookCall, verdict: Verdict) -> None:
        self._write(call, {"event": "decided", "action": verdict.action, "reason": verdict.reason})

    async def after(self, call: HookCall, envelope: Envelope) -> Envelope:
        ended: dict[str, Json] = {"event": "ended", "ok": envelope.ok, "duration_s": round(envelope.duration_s, 3)}
        if envelope.error is not None:
            ended |= {"code": envelope.error.code, "message": envelope.error.message}
            ended |= {"unknown_outcome": True} if envelope.error.unknown_outcome else {}
        self._write(call, ended)
        return envelope

    def _write(self, call: HookCall, entry: Mapping[str, Json]) -> None:
        head: dict[str, Json] = {"at": round(self._clock(), 3), "run": call.run, "phase": call.phase, "call": call.id}
        head["tool"] = call.name[:_LONGEST_NAME] if call.spec is None else call.spec.address
        if call.spec is not None:
            head["effect"] = call.spec.effect
        head["arguments"] = _shortened(dict(call.arguments))
        line = json.dumps(self._hide({**head, **entry}), ensure_ascii=False, separators=(",", ":"))
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        try:
            os.write(descriptor, f"{line}\n".encode("utf-8", "backslashreplace"))
        finally:
            os.close(descriptor)


def _shortened(value: Json) -> Json:
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:_LONGEST]}… ({len(value)} characters)"
    if isinstance(value, list):
        return [_shortened(entry) for entry in value[:100]]
    if isinstance(value, dict):
        return {name[:200]: _shortened(entry) for name, entry in list(value.items())[:100]}
    return value
