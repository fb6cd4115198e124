"""What a person, or a program, sees of a run while it goes on."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final

from aop_runtime.options import Format
from aop_runtime.runs.events import (
    CallBegun,
    CallFinished,
    Event,
    ModelReplied,
    Noted,
    PhaseFinished,
    PhaseStarted,
    QuestionAnswered,
    QuestionAsked,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunResumed,
    RunStarted,
    RunWaiting,
)
from aop_runtime.visible import visible

_WORDS: Final[Mapping[str, Mapping[str, str]]] = {
    "ja": {
        "started": "開始",
        "resumed": "再開",
        "phase": "フェーズ",
        "asked": "確認待ち",
        "yes": "承認",
        "no": "却下",
        "text": "回答",
        "waiting": "回答を待って止まりました",
        "failed": "止まりました",
        "cancelled": "取り消しました",
        "finished": "完了",
        "truncated": "長いため一部",
    },
    "en": {
        "started": "started",
        "resumed": "resumed",
        "phase": "Phase",
        "asked": "asks",
        "yes": "approved",
        "no": "refused",
        "text": "answered",
        "waiting": "stopped to wait for an answer",
        "failed": "stopped",
        "cancelled": "cancelled",
        "finished": "finished",
        "truncated": "shortened",
    },
}
_ROOM: Final = 100


class Reporter:
    """`write` takes whole lines. With `jsonl` each recorded event is a line, with the run's id; else lines for people,
    who are shown progress as well."""

    def __init__(self, write: Callable[[str], None], form: Format, language: str) -> None:
        self._write = write
        self._form = form
        self._language = language
        self._words = _WORDS["en" if language == "en" else "ja"]

    def __call__(self, run: str, event: Event) -> None:
        if self._form == "jsonl":
            if not event.sequence:
                return
            fields = {"run": run, **event.model_dump(mode="json")}
            self._write(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))
            return
        line = self._line(run, event)
        if line:
            self._write(visible(line))

    def _line(self, run: str, event: Event) -> str:
        words = self._words
        indent = "  " * run.count(".")
        match event:
            case RunStarted():
                return f"{indent}▶ {event.procedure}  [{run}] {words['started']}"
            case RunResumed():
                return f"{indent}▶ [{run}] {words['resumed']}"
            case PhaseStarted():
                return f"{indent}■ {words['phase']} {event.phase + 1}: {event.title}"
            case CallBegun():
                sign = "✎" if event.effect == "write" else "→"
                return f"{indent}  {sign} {event.tool}.{event.operation} {short(event.arguments)}"
            case CallFinished(envelope=envelope):
                if envelope.error is not None:
                    return f"{indent}  ✗ {event.name}: {envelope.error.code}: {short(envelope.error.message)}"
                cut = f" ({words['truncated']})" if envelope.truncation is not None else ""
                body = envelope.content or envelope.structured
                return f"{indent}  ← {event.name} {envelope.duration_s:.1f} s{cut} {short(body)}"
            case QuestionAsked():
                about = short(event.arguments or None) or " / ".join(event.choices)
                return f"{indent}  ? {words['asked']}: {event.text} {about}".rstrip()
            case QuestionAnswered():
                by = f" ({event.by})" if event.by else ""
                return f"{indent}  ! {words[event.verdict]}{by} {short(event.text)}"
            case Noted():
                return f"{indent}  · {short(event.text)}"
            case PhaseFinished():
                return f"{indent}  = {short(event.result)}"
            case RunWaiting():
                return f"{indent}⏸ [{run}] {words['waiting']}"
            case RunFailed():
                return f"{indent}✗ [{run}] {words['failed']}: {event.text(self._language)}"
            case RunCancelled():
                return f"{indent}✗ [{run}] {words['cancelled']}"
            case RunFinished():
                return f"{indent}✔ [{run}] {words['finished']}"
            case ModelReplied():
                return ""


def short(value: object) -> str:
    """One line that fits."""
    if value is None or value == "":
        return ""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    line = " ".join(text.split())
    return line if len(line) <= _ROOM else f"{line[: _ROOM - 1]}…"
