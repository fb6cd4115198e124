"""The journal of a run: its record in `events.jsonl`, appended to and never changed."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import cast

from pydantic import JsonValue

from aop_runtime.declarations import Json
from aop_runtime.messages import Message, reason
from aop_runtime.plane.arguments import canonical
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.questions import Answer, Question
from aop_runtime.plane.spec import ToolSpec
from aop_runtime.runs.envelopes import recorded
from aop_runtime.runs.events import CallBegun, CallFinished, Event, ModelReplied, QuestionAnswered, QuestionAsked
from aop_runtime.runs.record import FILE, JournalFault, Record
from aop_runtime.runs.regular import open_regular
from aop_runtime.runs.vault import Vault, hidden


class Journal(Record):
    """A `CallJournal` in the file `events.jsonl` of `folder`, for the one process that holds the run (`runs.folder`).

    A last line that a crash has cut off is dropped: what it was to record counts as not having happened, which is why a
    write's beginning is on the disk before the write. `watch` gets every event once it is written, as anybody may see
    it. `active`: seconds that the run has been worked on; None: no more than before. `vault`: of the secrets that the
    file must not hold. Raises JournalFault.
    """

    def __init__(
        self,
        folder: Path,
        watch: Callable[[Event], None] = lambda event: None,
        *,
        active: Callable[[], float] | None = None,
        clock: Callable[[], float] = time.time,
        vault: Vault | None = None,
    ) -> None:
        super().__init__()
        self._path = folder / FILE
        self._watch = watch
        self._active = active
        self._clock = clock
        self._vault = vault or Vault()
        self._lost_replies: set[tuple[int, int]] = set()
        self._lost_calls: set[str] = set()
        self._broken = False
        try:
            self._descriptor = open_regular(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        except OSError as error:
            raise JournalFault("journal.unreadable", path=str(self._path), reason=reason(error)) from error
        try:
            self._size = self.read(_all(self._descriptor), str(self._path))
            os.ftruncate(self._descriptor, self._size)
        except BaseException:
            os.close(self._descriptor)
            raise

    def record(self, event: Event, *, durable: bool = False) -> None:
        """Append an event. `durable`: it would survive a power cut when this returns. Raises JournalFault."""
        stamped = event.model_copy(
            update={
                "sequence": self.lines + 1,
                "at": round(self._clock(), 3),
                "active_s": round(self._active_s(), 3),
            }
        )
        plain = stamped.model_dump(mode="json")
        sealed = self._vault.sealed(plain)
        line = json.dumps(sealed, ensure_ascii=False, separators=(",", ":"))
        self._append(f"{line}\n".encode("utf-8", "surrogatepass"), durable=durable)
        self.lines += 1
        self.take(stamped)
        self._watch(stamped if sealed is plain else type(event).model_validate(hidden(sealed)))

    def guard(self, vault: Vault) -> None:
        """From now on its secrets, too: a run that this one calls has servers of its own, and its result comes here."""
        self._vault = self._vault.joined(vault)

    def tell(self, event: Event) -> None:
        """Whoever watches, and not the record."""
        sealed = self._vault.sealed(event.model_dump(mode="json"))
        self._watch(type(event).model_validate(hidden(sealed)))

    def is_whole(self, reply: ModelReplied) -> bool:
        """Whether it is what the model wrote: a secret in it may be none of the environment any more."""
        return (reply.phase, reply.turn) not in self._lost_replies

    def _read(self, event: dict[str, Json]) -> dict[str, Json]:
        opened, whole = self._vault.opened(event)
        if not whole:
            match event:
                case {"event": "model-replied", "phase": int(phase), "turn": int(turn)}:
                    self._lost_replies.add((phase, turn))
                case {"event": "call-begun", "call": str(call)}:
                    self._lost_calls.add(call)
                case _:
                    pass
        return opened

    def _active_s(self) -> float:
        if self._active is not None:
            return self._active()
        return self.events[-1].active_s if self.events else 0.0

    def _append(self, data: bytes, *, durable: bool) -> None:
        if self._broken:
            earlier = Message("journal.earlier")
            raise JournalFault("journal.not-written", path=str(self._path), reason=earlier)
        try:
            written = 0
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
            if durable:
                os.fsync(self._descriptor)
        except OSError as error:
            # Half a line must not get another one behind it.
            self._broken = True
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._size)
            raise JournalFault("journal.not-written", path=str(self._path), reason=reason(error)) from error
        self._size += len(data)

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    # ------------------------------------------------------------------------------------------- the plane's

    def unknown_outcome(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> bool:
        wanted = canonical(arguments)
        return any(
            envelope.error is not None and envelope.error.unknown_outcome
            for call, (address, made) in self._writes.items()
            # One whose arguments cannot be told any more may be equal.
            if address == spec.address and (made == wanted or call in self._lost_calls)
            if (envelope := self._finished.get(call)) is not None
        )

    def begin(self, call: str, spec: ToolSpec, arguments: Mapping[str, Json]) -> None:
        event = CallBegun(
            call=call,
            tool=spec.tool,
            operation=spec.operation,
            effect=spec.effect,
            arguments=cast("JsonValue", dict(arguments)),
        )
        self.record(event, durable=spec.effect == "write")

    def finish(self, call: str, name: str, envelope: Envelope) -> None:
        event = CallFinished(call=call, name=name[:200], envelope=recorded(envelope))
        self.record(event, durable=call in self._writes)

    def asked(self, question: Question) -> None:
        if question.id not in self._asked:
            self.record(QuestionAsked.model_validate(asdict(question)))

    def answer(self, question: str, answer: Answer) -> None:
        self.record(QuestionAnswered(id=question, **asdict(answer)), durable=True)


def _all(descriptor: int) -> bytes:
    parts, place = [], 0
    while part := os.pread(descriptor, 1 << 20, place):
        parts.append(part)
        place += len(part)
    return b"".join(parts)
