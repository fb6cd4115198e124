"""The folder of a run, and of all runs."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from aop_runtime.faults import Fault
from aop_runtime.messages import reason
from aop_runtime.runs.regular import read_regular

_ID: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}(\.[0-9]{1,4}){0,20}")
RECORD: Final = "events.jsonl"

_TRIES: Final = 10
_PAUSE_S: Final = 0.02
MAX_INPUT: Final = 1024 * 1024
MAX_ATTACHMENT: Final = 256 * 1024 * 1024


class RunFault(Fault):
    """A run cannot be made, found, or driven now. The message says which, why, and what to do."""


class _Held(RunFault):
    """By another process."""


class Limits(BaseModel):
    """Of a run and those that it calls, together; they do not begin anew when it is resumed. `seconds`: at work. The
    time in which a person is asked does not count."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: int = Field(default=200, ge=0)
    tool_calls: int = Field(default=500, ge=0)
    tokens: int = Field(default=5_000_000, ge=0)
    seconds: float = Field(default=3600.0, ge=0, allow_inf_nan=False)


class Plan(BaseModel):
    """`run.json`: what was started. It never changes. Nothing in it is a secret: models and servers find theirs in the
    environment of whoever resumes the run."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = 1
    run: Annotated[str, StringConstraints(max_length=200)]
    procedure: str
    input: Annotated[str, StringConstraints(max_length=MAX_INPUT)]
    model: str
    script: str | None = None
    language: str = "ja"
    features: tuple[str, ...] = ()
    limits: Limits = Limits()
    callers: tuple[str, ...] = ()
    mcp_config: str | None = None
    permissions: str | None = None
    plugins: str | None = None
    library: str | None = None


class Changes(BaseModel):
    """What a run goes on with in place of what it was started with."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str | None = None
    script: str | None = None
    limits: Limits | None = None

    def over(self, plan: Plan) -> Plan:
        update: dict[str, object] = {}
        if self.model is not None:
            update |= {"model": self.model, "script": self.script}
        if self.limits is not None:
            update["limits"] = self.limits
        return plan.model_copy(update=update)


class RunFolder:
    """Of one run. Its id names it below the folder of all runs."""

    def __init__(self, runs: Path, run: str) -> None:
        if _ID.fullmatch(run) is None:
            raise RunFault("run.no-id", run=run[:60])
        self.runs = runs.absolute()
        self.run = run
        self.path = self.runs / run

    @property
    def procedure(self) -> Path:
        return self.path / "procedure.py"

    @property
    def manifest(self) -> Path:
        return self.path / "manifest.json"

    def create(self, plan: Plan, compiled: Path, attachments: Sequence[Path] = ()) -> None:
        """Whole or not at all, with the module and the manifest of the folder `compiled`. Raises RunFault."""
        self.runs.mkdir(mode=0o700, parents=True, exist_ok=True)
        partial = self.runs / f".{self.run}.{secrets.token_hex(4)}"
        try:
            partial.mkdir(mode=0o700)
            for name in ("procedure.py", "manifest.json"):
                shutil.copyfile(compiled / name, partial / name)
            for name in ("attachments", "outputs", "questions", "answers"):
                (partial / name).mkdir(mode=0o700)
            (partial / RECORD).touch(mode=0o600)
            for source in attachments:
                _attach(source, partial / "attachments")
            (partial / "run.json").write_text(plan.model_dump_json(indent=1) + "\n", encoding="utf-8")
            for path in (*partial.rglob("*"), partial):
                _sync(path)
            partial.rename(self.path)
            _sync(self.runs)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise RunFault("run.not-made", path=str(error.filename or self.path), reason=reason(error)) from error
        except BaseException:
            shutil.rmtree(partial, ignore_errors=True)
            raise

    def exists(self) -> bool:
        return (self.path / "run.json").is_file()

    def plan(self) -> Plan:
        """Raises RunFault."""
        path = self.path / "run.json"
        try:
            return Plan.model_validate_json(read_regular(path))
        except FileNotFoundError as error:
            raise RunFault("run.none", run=self.run, folder=str(self.runs)) from error
        except OSError as error:
            raise RunFault("run.unreadable", path=str(path), reason=reason(error)) from error
        except ValidationError as error:
            raise RunFault("run.other-version", path=str(path)) from error

    @contextmanager
    def held(self) -> Iterator[None]:
        """For one process at a time. Raises RunFault."""
        with self._lock(_TRIES):
            yield

    def is_held(self) -> bool:
        """Raises RunFault where that cannot be known."""
        try:
            with self._lock(1):
                return False
        except _Held:
            return True

    @contextmanager
    def _lock(self, tries: int) -> Iterator[None]:
        """`tries`: whoever only asks whether it is held holds it, too, for a moment. Raises RunFault."""
        try:
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise RunFault("run.unreadable", path=str(self.path), reason=reason(error)) from error
        try:
            for left in reversed(range(tries)):
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as error:
                    if not left:
                        raise _Held("run.held", run=self.run) from error
                    time.sleep(_PAUSE_S)
            yield
        finally:
            os.close(descriptor)


def new_run_id() -> str:
    """Sorts by the time when it was made."""
    return f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(3)}"


def child_id(run: str, phase: int) -> str:
    """Of the run that phase number `phase` (from 0) of `run` calls: the same whenever it is resumed."""
    return f"{run}.{phase + 1}"


def all_runs(runs: Path) -> list[RunFolder]:
    """The newest first."""
    if not runs.is_dir():
        return []
    names = [path.name for path in runs.iterdir() if _ID.fullmatch(path.name) and (path / "run.json").is_file()]
    return [RunFolder(runs, name) for name in sorted(names, reverse=True)]


def _attach(source: Path, folder: Path) -> None:
    if not source.is_file():
        raise RunFault("run.attach-no-file", path=str(source))
    if source.stat().st_size > MAX_ATTACHMENT:
        raise RunFault("run.attach-too-large", path=str(source), most=MAX_ATTACHMENT)
    target = folder / source.name
    if target.exists():
        raise RunFault("run.attach-twice", path=str(source), name=source.name)
    shutil.copyfile(source, target)
    target.chmod(0o600)


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Whole or not at all."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    partial.write_text(json.dumps(value, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    partial.chmod(0o600)
    partial.replace(path)


def _sync(path: Path) -> None:
    """A file's contents, or a folder's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
