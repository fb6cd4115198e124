"""`aop admin preflight`: whether an installation can work, and what it lacks."""

from __future__ import annotations

from typing import Final

from cli import streams
from cli.exits import OK, TROUBLE
from cli.json_output import print_json
from cli.service import load_settings
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from workers import logs
from workers.preflight import Check, State, preflight

_STATES: Final[dict[State, tuple[str, str]]] = {
    "ok": ("良好", "ok"),
    "warning": ("注意", "warning"),
    "problem": ("問題", "problem"),
}


def run(lang: Lang, *, as_json: bool) -> int:
    """Status 2: there is a problem. A warning is none. Raises OutputFault for a wrong setting."""
    settings = load_settings()
    logs.configure(settings, "admin")
    checks: list[Check] = []
    for check in preflight(settings):
        checks.append(check)
        if not as_json:
            state = _STATES[check.state][lang == "en"]
            streams.emit(f"{state}  {check.subject}: {visible(check.texts[lang])}\n")
    if as_json:
        print_json(
            [
                {"subject": check.subject, "state": check.state, "check": check.key, "message": check.texts[lang]}
                for check in checks
            ]
        )
    return TROUBLE if any(check.state == "problem" for check in checks) else OK
