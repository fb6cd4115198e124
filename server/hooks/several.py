"""Notifications that tell of several documents at once: what can be accepted is, and the rest is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import anyio
from pydantic import JsonValue
from starlette.responses import JSONResponse, Response

from pipeline.diagnostics.lang import Lang
from server.errors import ApiError
from server.saving import ACCEPTED, Wanted, accept
from server.service import Service
from server.texts import say

Reason: TypeAlias = Literal["other-branch", "other-event", "test-event", "other-change"]
"""Why there is nothing to do: of `server.texts`."""


@dataclass(slots=True)
class Notification:
    """What was read of one: saves in their order; what is refused, with its path; why something is nothing to do."""

    wanted: list[Wanted] = field(default_factory=list)
    refused: list[tuple[str, ApiError]] = field(default_factory=list)
    ignored: list[tuple[str, Reason]] = field(default_factory=list)

    def refuse(self, path: str, error: ApiError) -> None:
        self.refused.append((path, error))

    def ignore(self, path: str, reason: Reason) -> None:
        self.ignored.append((path, reason))


async def accept_all(service: Service, notification: Notification, trace: str, lang: Lang) -> Response:
    """202 with all jobs. Raises the first refusal where nothing else is left, and what `accept` raises: the sender
    sends all of it again then, and what was accepted already makes no second job."""
    if notification.refused and not notification.wanted:
        raise notification.refused[0][1]
    by_document: dict[str, list[Wanted]] = {}
    for wanted in notification.wanted:
        by_document.setdefault(wanted.document, []).append(wanted)
    saves: dict[str, list[JsonValue]] = {document: [] for document in by_document}
    faults: list[Exception] = []

    async def in_order(document: str, several: Sequence[Wanted]) -> None:
        try:
            for one in several:
                saves[document].append(await service.run(accept, service, one, trace))
        except Exception as error:  # noqa: BLE001 - raised below, where no task group wraps it
            faults.append(error)

    async with anyio.create_task_group() as tasks:
        for document, several in by_document.items():
            tasks.start_soon(in_order, document, several)
    if faults:
        raise faults[0]
    body: dict[str, JsonValue] = {
        "saves": [save for several in saves.values() for save in several],
        "refused": [{"path": path, **error.body(lang)} for path, error in notification.refused],
        "ignored": [
            {"path": path, "reason": reason, "message": say(reason, lang)} for path, reason in notification.ignored
        ],
    }
    return JSONResponse(body, ACCEPTED)
