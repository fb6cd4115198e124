"""A running installation: a Redis, a store, four real workers and a dispatcher, each a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self, TypeVar

from redis import Redis

from workers.app import make_app
from workers.archive import Archive
from workers.context import Context, open_context
from workers.intake import Intake, open_installation
from workers.ledger.records import ENDED, STAGES, Accepted, Job, Message, Stage
from workers.records import Outcome, Output, Published
from workers.settings import Settings

from ..celery_messages import send

WAIT_S: Final = 120.0
"""Generous: it is taken only by what fails, and a busy machine may be slow."""
Found = TypeVar("Found")


FAST: Final = {
    "AOP_QUIET_MS": "0",
    "AOP_LONGEST_WAIT_MS": "0",
    "AOP_TICK_MS": "20",
    "AOP_LEASE_MS": "1000",
    "AOP_MESSAGE_LOST_MS": "1000",
    "AOP_MOST_ATTEMPTS": "3",
    "AOP_SOFT_SHUTDOWN_S": "5",
}
"""Nothing waits for long, so that what was lost is found again within seconds."""


class Installation:
    """`environment`: the settings of its processes. `folder`: for their logs."""

    def __init__(self, environment: Mapping[str, str], folder: Path) -> None:
        self.environment = {**FAST, **environment}
        self.folder = folder
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self.settings = settings_of(self.environment)
        self.context: Context = open_context(self.settings)
        open_installation(self.context.ledger, self.context.archive)
        self._app = make_app(self.settings)

    # --------------------------------------------------------------------------------------------- processes

    def start(self, *stages: Stage, dispatcher: bool = True) -> Self:
        for stage in stages or STAGES:
            self.start_one(stage)
        if dispatcher:
            self.start_one("dispatcher")
        return self

    def start_one(self, name: str, **environment: str) -> None:
        arguments = [name] if name == "dispatcher" else ["worker", name]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                [sys.executable, "-m", "cli", *arguments],
                cwd=Path(__file__).parents[3],
                env={**os.environ, **self.environment, **environment},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def pid(self, name: str) -> int:
        return self._processes[name].pid

    def is_running(self, name: str) -> bool:
        return self._processes[name].poll() is None

    def stop_one(self, name: str) -> int:
        """Asked to end, as a supervisor asks; the exit status."""
        process = self._processes.pop(name)
        process.send_signal(signal.SIGTERM)
        return process.wait(timeout=WAIT_S)

    def kill_one(self, name: str) -> None:
        """As the system kills: without a word, children and all."""
        process = self._processes.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=120)

    @contextmanager
    def frozen(self, name: str) -> Iterator[None]:
        """The process takes no step meanwhile, nor do its children."""
        os.killpg(self._processes[name].pid, signal.SIGSTOP)
        try:
            yield
        finally:
            if name in self._processes:
                os.killpg(self._processes[name].pid, signal.SIGCONT)

    def stop(self) -> None:
        for process in self._processes.values():
            process.send_signal(signal.SIGTERM)
        for process in self._processes.values():
            try:
                process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=120)
        self._processes.clear()
        self.context.close()

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def send(self, message: Message) -> None:
        """A message that the ledger did not ask for."""
        send(self._app, message)

    # ------------------------------------------------------------------------------------- saving and looking

    @property
    def archive(self) -> Archive:
        return self.context.archive

    @property
    def redis(self) -> Redis:
        return self.context.redis

    def save(self, document: str, text: str | bytes, **fields: str) -> Accepted:
        data = text.encode() if isinstance(text, str) else text
        intake = Intake(self.context.ledger, self.archive)
        return intake.accept(document, data=data, **{"source": "test", **fields})  # type: ignore[arg-type]  # only texts

    def retire(self, document: str) -> Accepted:
        intake = Intake(self.context.ledger, self.archive)
        return intake.accept(document, data=None, source="test", action="retire")

    def job(self, identity: str) -> Job:
        found = self.context.ledger.job(identity)
        assert found is not None, f"there is no job {identity}"
        return found

    def wait(self, identity: str, within_s: float = WAIT_S) -> Job:
        """Until the job has ended."""
        return self.until(lambda: job if (job := self.job(identity)).state in ENDED else None, within_s)

    def until_at(self, identity: str, stage: Stage) -> None:
        """Until that stage of the job is to run."""
        self.until(lambda: self.job(identity).stage == stage)

    def outcome(self, accepted: Accepted, within_s: float = WAIT_S) -> Outcome:
        """What the store says became of the save, once it says so."""
        document = self.wait(accepted.job, within_s).document
        return self.until(lambda: self.archive.outcome(document, accepted.sequence), within_s)

    def published(self, document: str) -> Published:
        found = self.archive.published(document)
        assert found is not None, f"nothing is published of {document}"
        return found

    def output(self, document: str) -> Output:
        found = self.archive.output(self.published(document).output)
        assert found is not None
        return found

    def until(self, ask: Callable[[], Found | None], within_s: float = WAIT_S) -> Found:
        """Ask until the answer is something."""
        end = time.monotonic() + within_s
        while True:
            found = ask()
            if found:
                return found
            assert time.monotonic() < end, f"not within {within_s} s"
            time.sleep(0.02)


def settings_of(environment: Mapping[str, str]) -> Settings:
    """What a process reads from that environment."""
    before = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("AOP_")}
    os.environ.update(environment)
    try:
        return Settings()
    finally:
        for name in environment:
            os.environ.pop(name, None)
        os.environ.update(before)
