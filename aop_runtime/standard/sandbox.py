"""`sandbox`: runs Python and shell code that an agent wrote, behind a wall of namespaces or not at all.

No network, no files but the system's own and a scratch folder, limits on everything that it could take. The folder is
kept for the phase: what one call wrote, the next one finds.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from aop_runtime.confinement import bubblewrap, scratch
from aop_runtime.confinement.process import Budget, Ended, Program, Reason, run
from aop_runtime.confinement.usage import can_be_measured, usage
from aop_runtime.declarations import Json, Standard
from aop_runtime.messages import Message
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Output, ToolFailure
from aop_runtime.plane.spec import Tool, ToolSpec
from aop_runtime.sources.protocol import Grant, SourceFault
from aop_runtime.standard import sandbox_wall as wall
from aop_runtime.standard.sandbox_wall import SandboxLimits
from aop_runtime.standard.texts import text

NAME: Final = "sandbox"
MOST_CODE: Final = 200_000
MOST_STDIN: Final = 1_000_000
"""Code points."""

_SHOWN: Final = 4_000
_MARGIN_S: Final = 30.0

Language = Literal["python", "shell"]

_FILES: Final[dict[Language, str]] = {"python": "main.py", "shell": "main.sh"}


def _schema(language: str) -> dict[str, Json]:
    return {
        "type": "object",
        "properties": {
            "code": {"type": "string", "minLength": 1, "maxLength": MOST_CODE, "description": f"The {language} code."},
            "stdin": {"type": "string", "maxLength": MOST_STDIN, "description": "What it reads from standard input."},
        },
        "required": ["code"],
        "additionalProperties": False,
    }


class SandboxSource:
    """A `Source` of `run_python` and `run_shell`."""

    def __init__(self, limits: SandboxLimits = SandboxLimits()) -> None:  # noqa: B008 - immutable
        self._limits = limits
        # The calls of a phase share a folder: one after the other, in the order in which they come.
        self._locks: dict[str, asyncio.Lock] = {}

    def accepts(self, grant: Grant) -> bool:
        return isinstance(grant, Standard) and grant.tool == NAME

    async def tools(self, grant: Grant) -> Sequence[Tool]:
        """Raises SourceFault where this host cannot confine."""
        fault = await asyncio.to_thread(bubblewrap.fault)
        if fault is None and not can_be_measured():
            fault = Message("confine.children")
        if fault is not None:
            raise SourceFault("sandbox.no-wall", tool=NAME, why=fault)
        return self.declared()

    def declared(self) -> tuple[Tool, ...]:
        """What there is where this host can confine."""
        return self._tool("python"), self._tool("shell")

    async def aclose(self) -> None:
        """Nothing outlives a call."""

    def _tool(self, language: Language) -> Tool:
        limits = self._limits
        operation = f"run_{language}"
        spec = ToolSpec(
            name=operation,
            tool=NAME,
            operation=operation,
            description=text(operation).substitute(
                seconds=f"{limits.wall_s:g}", memory=limits.memory_bytes // (1024 * 1024), folder=wall.SCRATCH
            ),
            input_schema=_schema("Python" if language == "python" else "shell (sh)"),
            # Nothing outside its scratch folder changes.
            effect="read",
            timeout_s=limits.wall_s + _MARGIN_S,
        )
        return Tool(spec, _Run(language, limits, self._locks))


@dataclass(frozen=True, slots=True)
class _Run:
    """A `Handler`."""

    language: Language
    limits: SandboxLimits
    locks: dict[str, asyncio.Lock]

    async def __call__(self, arguments: Mapping[str, Json], context: ToolContext, /) -> Output:
        code, stdin = arguments["code"], arguments.get("stdin", "")
        if not isinstance(code, str) or not isinstance(stdin, str):
            raise ToolFailure("invalid_input", "code and stdin are texts")
        folder = str(context.folder / NAME / f"phase-{context.phase}")
        async with self.locks.setdefault(folder, asyncio.Lock()):
            try:
                ended = await confined(self.language, _utf8(code), _utf8(stdin), folder, self.limits)
            except (bubblewrap.Unavailable, OSError) as error:
                said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
                raise ToolFailure("dependency_failure", f"{NAME}: {said}") from error
        return _output(ended, self.limits)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure("invalid_input", "code and stdin hold half a character (a lone surrogate)") from error


async def confined(language: Language, code: bytes, stdin: bytes, folder: str, limits: SandboxLimits) -> Ended:
    """Run `code` with `folder` (made where it is missing) as its scratch folder.

    Raises Unavailable where the host cannot confine, and OSError. Too deep a tree in the folder is deleted, with all
    that is in it.
    """
    users = bubblewrap.Users()
    Path(folder).mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        os.fchown(opened, users.outside, -1)
        before = scratch.contents(folder, limits.scratch_entries)
        with (
            bubblewrap.descriptor(code) as code_file,
            bubblewrap.descriptor(wall.launcher()) as launcher,
            bubblewrap.descriptor(wall.PASSWD) as passwd,
            bubblewrap.descriptor(wall.GROUP) as group,
            bubblewrap.wall(
                [
                    *wall.files(
                        {_FILES[language]: code_file, wall.LAUNCHER: launcher}, {"passwd": passwd, "group": group}
                    ),
                    *wall.places(opened, limits),
                    *wall.environment(),
                ],
                (code_file, launcher, passwd, group, opened),
                second_user=users.needed,
            ) as setting,
        ):
            ended = await run(
                Program(
                    command=(
                        "bwrap",
                        *users.arguments,
                        *setting.arguments,
                        *wall.command(language, limits, users.become),
                    ),
                    executable=bubblewrap.bwrap(),
                    environment={},
                    folder="/",
                    budget=Budget(limits.wall_s),
                    output_bytes=limits.output_bytes,
                    stdin=stdin,
                    descriptors=(*users.descriptors, *setting.descriptors),
                    watch=lambda process: _over(process, folder, before, limits),
                    started=users.started,
                )
            )
    finally:
        users.close()
        os.close(opened)
    after = scratch.contents(folder, limits.scratch_entries)
    if after.too_deep:
        scratch.empty(folder)
    return ended


def _over(process: int, folder: str, before: scratch.Contents, limits: SandboxLimits) -> Reason | None:
    taken = usage(process)
    if taken.memory > limits.memory_bytes:
        return "memory"
    if taken.threads > 2 * limits.processes:
        return "processes"
    now = scratch.contents(folder, limits.scratch_entries)
    # Code that finds the folder full may still clear it.
    if now.size > max(limits.scratch_bytes, before.size) or (now.more and not before.more) or now.too_deep:
        return "scratch"
    return None


def _output(ended: Ended, limits: SandboxLimits) -> Output:
    """Raises ToolFailure where a limit ended it: the code has to change. Any status of the code's own is a result."""
    out, err = _text(ended.stdout), _text(ended.stderr)
    if ended.stopped is not None or ended.signal == "SIGXCPU":
        reason = ended.stopped or "time"
        raise ToolFailure(
            "invalid_input",
            f"the code was ended: {_said(reason, limits)}",
            {"reason": reason, "stdout": out[-_SHOWN:], "stderr": err[-_SHOWN:]},
        )
    structured: dict[str, Json] = {"exit_status": ended.status}
    if ended.signal is not None:
        structured["signal"] = ended.signal
    content = out
    if err:
        structured["stderr_characters"] = len(err)
        content += ("" if not out or out.endswith("\n") else "\n") + f"[standard error]\n{err}"
    return Output(content=content, structured=structured)


def _said(reason: Reason, limits: SandboxLimits) -> str:
    mebibyte = 1024 * 1024
    return {
        "time": f"it ran longer than {limits.wall_s:g} s, or took more than {limits.cpu_s} s of a processor",
        "output": f"it printed more than {limits.output_bytes // 1024} KiB; print less, or write to a file",
        "memory": f"it took more than {limits.memory_bytes // mebibyte} MiB of memory",
        "processes": f"it had more than {limits.processes} processes and threads",
        "scratch": (
            f"it left more in {wall.SCRATCH} than {limits.scratch_bytes // mebibyte} MiB, {limits.scratch_entries} "
            f"files, or {scratch.DEEPEST} levels of folders (a deeper tree was deleted)"
        ),
    }[reason]


def _text(output: bytes) -> str:
    return output.decode("utf-8", "replace")
