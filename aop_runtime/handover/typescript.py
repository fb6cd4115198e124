"""A hand-over as TypeScript: the text runs in the box, and what it calls goes through the plane."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from aop_runtime.confinement.bubblewrap import Unavailable
from aop_runtime.confinement.process import Ended, Reason
from aop_runtime.declarations import Handover, Json
from aop_runtime.handover.argument import filled
from aop_runtime.handover.box import Scripted, run_script
from aop_runtime.handover.deno import SCRIPT, Missing
from aop_runtime.handover.limits import BoxLimits
from aop_runtime.handover.protocol import Malformed
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure

_SHOWN: Final = 4_000
_PLACE: Final = re.compile(rf"{re.escape(SCRIPT)}:[0-9]+(:[0-9]+)?")
_OUT_OF_MEMORY: Final = (b"out of memory", b"memory allocation of", b"Array buffer allocation failed")


@dataclass(frozen=True, slots=True)
class ScriptCall:
    """A `Handler`. It does everything through its inner calls, so it can be started again."""

    grant: Handover
    limits: BoxLimits

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
        script = filled(self.grant, arguments)
        try:
            scripted = await run_script(script, context.inner, self.limits)
        except Malformed as malformed:
            raise ToolFailure(
                "invalid_input", f"the script was ended: {malformed}", {"reason": "protocol"}
            ) from malformed
        except (Unavailable, Missing, OSError) as error:
            said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise ToolFailure("dependency_failure", f"the script cannot be run here: {said}") from error
        return output_of(scripted, self.limits)


def output_of(scripted: Scripted, limits: BoxLimits) -> Output:
    """What the script printed. Raises ToolFailure where it failed, or was ended at a limit: nothing outside is at
    fault, so the values are what can be corrected."""
    ended = scripted.ended
    out, err = ended.stdout.decode("utf-8", "replace"), ended.stderr.decode("utf-8", "replace")
    reason = _limit(ended)
    if reason is None and ended.status == 0:
        structured: dict[str, Json] = {"exit_status": 0, "calls": scripted.calls}
        warnings = (f"standard error: {err[:_SHOWN].rstrip()}",) if err else ()
        return Output(content=out, structured=structured, warnings=warnings)
    details: dict[str, Json] = {
        "reason": reason or "exit_status",
        "exit_status": None if reason else ended.status,
        "calls": scripted.calls,
        "stdout": out[:_SHOWN],
        "stderr": err[-_SHOWN:],
    }
    said = f"was ended: {_said(reason, limits)}" if reason else f"ended with status {ended.status}: {_last_words(err)}"
    raise ToolFailure("invalid_input", f"the script {said}", details)


def _limit(ended: Ended) -> Reason | None:
    if ended.stopped is not None:
        return ended.stopped
    if ended.signal == "SIGXCPU":
        return "time"
    if ended.status != 0 and any(words in ended.stderr for words in _OUT_OF_MEMORY):
        return "memory"
    return None


def _said(reason: Reason, limits: BoxLimits) -> str:
    if reason == "time":
        return f"it ran longer than {limits.wall_s:g} s, or took more than {limits.cpu_s} s of a processor"
    if reason == "output":
        return f"it printed more than {limits.output_bytes // 1024} KiB"
    return f"it took more memory than it may ({limits.memory_bytes // (1024 * 1024)} MiB, Deno's own included)"


def _last_words(err: str) -> str:
    """The line that says what failed, and the place in the script."""
    lines = [line.strip() for line in err.splitlines() if line.strip()]
    named = [line for line in lines if line.startswith("error:")]
    said = (named or lines or ["it said nothing"])[0][:500]
    place = _PLACE.search(err)
    return said if place is None or place[0] in said else f"{said} ({place[0]})"
