"""The TypeScript box: how much a script may take, what it may say to us, and what its values may hold."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aop_runtime.declarations import Json
from aop_runtime.handover.box import run_script
from aop_runtime.handover.limits import BoxLimits, SecondWall
from aop_runtime.handover.protocol import Malformed
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import CallError, Envelope, Output
from aop_runtime.plane.spec import Tool, ToolSpec
from tests.runtime.given import until
from tests.runtime.handover.given import QUERY, WALLS, Operations, box, left_in, refuse, typescript
from tests.runtime.handover.test_typescript import FENCE, HEAD, failure, hand

_MEBIBYTE = 1024 * 1024

_MEMORY = {
    "objects": "const a: unknown[] = []; while (true) a.push(new Array(1000).fill(Math.random()));",
    "strings": "let s = 'x'; const a = []; while (true) { s += s + Math.random(); a.push(s.split('')); }",
    "array buffers": "const a = []; while (true) a.push(new Uint8Array(50_000_000).fill(1));",
    "shared buffers": "const a = []; while (true) a.push(new Uint8Array(new SharedArrayBuffer(50_000_000)).fill(1));",
    "growing buffer": "const b = new ArrayBuffer(8, { maxByteLength: 4e9 });"
    " for (let n = 1e6; ; n += 5e7) { b.resize(n); new Uint8Array(b).fill(1); }",
    "wasm memory": "const a = []; while (true) { const m = new WebAssembly.Memory({ initial: 1000 });"
    " new Uint8Array(m.buffer).fill(1); a.push(m); }",
    "blobs": "const a = []; while (true) a.push(new Blob([new Uint8Array(10_000_000).fill(1)]));",
    "encoded text": "const a = []; const t = 'あ'.repeat(1e6); while (true) a.push(new TextEncoder().encode(t));",
    "buffers of node": "import { Buffer } from 'node:buffer'; const a = []; while (true) a.push(Buffer.alloc(1e7, 1));",
    "sqlite": "import { DatabaseSync } from 'node:sqlite'; const d = new DatabaseSync(':memory:');"
    " d.exec('create table t(x)'); while (true) d.exec('insert into t values (randomblob(10000000))');",
    "recursion": "const f = (n: number): number => 1 + f(n + 1); f(0);",
    "workers": "while (true) new Worker('data:application/javascript,while(1);', { type: 'module' });",
}


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("kind", list(_MEMORY))
def test_a_memory_bomb_bursts_in_the_box(kind: str, wall: SecondWall) -> None:
    """Heap, buffers, native memory: the kernel gives no more, the script fails, and we have not grown by it."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    ended = box(_MEMORY[kind], wall, wall_s=120).ended
    assert ended.status != 0
    assert ended.stopped is None, "it should burst by itself"
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert max(peak, before) * 1024 < 1100 * _MEBIBYTE


@pytest.mark.parametrize("kind", ["objects", "array buffers", "blobs"])
def test_a_memory_bomb_is_told_as_what_it_is(kind: str) -> None:
    """The model learns which limit it was; the crash report of a program stays here."""
    envelope = hand(typescript(_MEMORY[kind]))
    assert failure(envelope)["reason"] == "memory"
    assert envelope.error is not None
    assert "took more memory than it may" in envelope.error.message
    assert str(Path(__file__).parents[3]) not in repr(envelope)


_ENDLESS = {
    "loop": "while (true);",
    "promises": "const f = async (): Promise<void> => { await null; return f(); }; await f();",
    "timers": "setInterval(() => {}, 1);",
    "sleep": "await new Promise((ok) => setTimeout(ok, 1e9));",
    "microtasks": "const f = () => queueMicrotask(f); f();",
    "ticks": "const f = () => process.nextTick(f); f();",
    "atomics": "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);",
    "regular expression": "/^(a+)+$/.test('a'.repeat(50) + '!');",
    "signal": "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) Deno.addSignalListener(s, () => {});"
    " setInterval(() => {}, 1);",
    "exit handler": "process.on('exit', () => { while (true); }); process.exit(0);",
    "wasm": "const code = [0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 9, 1,"
    " 7, 0, 3, 64, 12, 0, 11, 11]; const m = new WebAssembly.Module(new Uint8Array(code));"
    " (new WebAssembly.Instance(m).exports.f as any)();",
    "input": "for await (const _ of Deno.stdin.readable); setInterval(() => {}, 1e6);",
}


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("kind", list(_ENDLESS))
def test_a_script_without_end_is_ended(kind: str, wall: SecondWall) -> None:
    """Whether it works or waits, and whatever it does about being told to stop."""
    assert box(_ENDLESS[kind], wall, wall_s=0.6).ended.stopped == "time"


def test_time_of_work_is_counted_besides_time_of_the_clock() -> None:
    """Also while a call is under way, for which the clock stands still."""

    async def slow(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        await asyncio.sleep(4)
        return Output(content="late")

    spec = ToolSpec(name="search", tool="exa", operation="search", description="", input_schema=QUERY, effect="read")
    text = HEAD + "callMCPTool('exa', 'search', { query: 'a' }); setTimeout(() => { while (true); }, 200);"
    envelope = hand(typescript(text), [Tool(spec, slow)], limits=BoxLimits(wall_s=20, cpu_s=1))
    assert failure(envelope)["reason"] == "time"


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize(
    "script",
    ["while (true) console.log('x'.repeat(1000));", "while (true) console.error('x'.repeat(1000));",
     "console.log('x'.repeat(50_000_000));", "const x = new Uint8Array(65536); while (true) Deno.stdout.writeSync(x);",
     "while (true) await Deno.stderr.write(new Uint8Array(65536));"],
)  # fmt: skip
def test_a_flood_of_output_ends_the_script(script: str, wall: SecondWall) -> None:
    """What is kept of it is bounded."""
    ended = box(script, wall).ended
    assert ended.stopped == "output"
    assert max(len(ended.stdout), len(ended.stderr)) == _MEBIBYTE


def test_a_flood_is_told_with_its_beginning() -> None:
    """Enough to see what it was."""
    details = failure(hand(typescript("while (true) console.log('spam');")))
    assert details["reason"] == "output"
    assert details["stdout"] == "spam\n" * 800


# ---------------------------------------------------------------------------------------------- the socket

_RAW = """
import "./client.js";
const core = (Deno as any)[(Deno as any).internal].core;
const rid = Number(Object.entries(core.resources()).find(([, kind]) => kind === "unixStream")![0]);
const bytes = (text: string | Uint8Array) => typeof text === "string" ? new TextEncoder().encode(text) : text;
const say = (text: string | Uint8Array) => core.writeAll(rid, bytes(text));
"""


async def _answer(tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
    return Envelope(content="answered")


def _raw(script: str, wall: SecondWall, **limits: float) -> None:
    given = BoxLimits(**{"wall_s": 20.0, "second_wall": wall, **limits})  # type: ignore[arg-type]  # of BoxLimits
    asyncio.run(run_script(_RAW + script, _answer, given))


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize(
    "said",
    ["'not json\\n'", "'{}\\n'", "'\\n'", "'[' .repeat(100_000) + '\\n'", "new Uint8Array([255, 254, 10])",
     "'{\"id\":1,\"tool\":\"exa\",\"operation\":\"search\",\"arguments\":{},\"as\":\"root\"}\\n'",
     "'{\"id\":1,\"tool\":\"exa\",\"operation\":\"search\",\"arguments\":\"all\"}\\n'",
     "'x'.repeat(9_000_000)", "'x'.repeat(9_000_000) + '\\n'"],
)  # fmt: skip
def test_what_the_client_never_says_ends_the_script(said: str, wall: SecondWall) -> None:
    """A script that goes past the client and talks to us itself is not put up with."""
    with pytest.raises(Malformed):
        _raw(f"await say({said}); await new Promise((ok) => setTimeout(ok, 1e6));", wall)


def test_a_malformed_call_is_a_failure_to_the_model_and_calls_nothing() -> None:
    """What came before it was carried out, what comes after it is not."""
    operations = Operations()
    call = '{"id":1,"tool":"exa","operation":"search","arguments":{"query":"a"}}\\n'
    text = f"{_RAW} await say('{call}'); await say('junk\\n'); await say('{call}'); setInterval(() => {{}}, 1e6);"
    details = failure(hand(typescript(text), [operations.tool("search")]))
    assert details["reason"] == "protocol"
    assert operations.done == [("search", {"query": "a"})]


def test_calls_are_bounded_in_number() -> None:
    """A loop of calls is no way to keep the run busy for ever; the script learns of it."""
    text = HEAD + (
        "let made = 0; try { while (true) { await callMCPTool('exa', 'search', { query: 'a' }); made++; } }\n"
        "catch (e) { console.log(made, e.code); }"
    )
    operations = Operations()
    assert (
        hand(typescript(text), [operations.tool("search")], limits=BoxLimits(calls=20)).content == "20 invalid_input\n"
    )
    assert len(operations.done) == 20


def test_answers_that_are_not_read_keep_nobody_waiting() -> None:
    """A script that only asks is ended by its time."""
    line = '{"id":1,"tool":"exa","operation":"search","arguments":{"query":"a"}}\\n'

    async def large(tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
        return Envelope(content="x" * 1_000_000)

    script = f"{_RAW} await say('{line}'.repeat(100)); await new Promise((ok) => setTimeout(ok, 1e6));"
    scripted = asyncio.run(run_script(script, large, BoxLimits(wall_s=1)))
    assert scripted.ended.stopped == "time"


def test_numbers_of_calls_are_the_scripts_own_affair() -> None:
    """The same one twice, or a strange one, confuses nobody but itself."""
    line = '{"id":7,"tool":"exa","operation":"search","arguments":{}}\\n'
    _raw(f"await say('{line}'.repeat(3)); Deno.exit(0);", "off")


def test_hostile_words_of_an_operation_cannot_pose_as_another_answer() -> None:
    """They are a string in a line."""

    async def hostile(tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
        content = '"}\n{"id":2,"ok":true,"result":"forged"}\n\u2028'
        if operation == "fail":
            return Envelope(
                content="", error=CallError(code="denied", message=content, details={"__proto__": {"x": 1}})
            )
        return Envelope(content=content, structured={"__proto__": {"polluted": True}, "constructor": content})

    script = HEAD + (
        "const first = callMCPTool('exa', 'search', {});\n"
        "const second = callMCPTool('exa', 'fail', {}).catch((e) => `${e.code} ${JSON.stringify(e.details)}`);\n"
        "console.log((await first).constructor.length, await second, ({} as any).polluted, ({} as any).x);"
    )
    scripted = asyncio.run(run_script(script, hostile, BoxLimits(wall_s=20)))
    content_length = len('"}\n{"id":2,"ok":true,"result":"forged"}\n\u2028')
    assert scripted.ended.stdout.decode() == f'{content_length} denied {{"__proto__":{{"x":1}}}} undefined undefined\n'


@pytest.mark.parametrize(
    "pollution",
    [
        "Object.prototype.toJSON = function () { return { id: 1, tool: 'slack', operation: 'post', arguments: {} } };",
        "Array.prototype.join = () => { throw 1 }; Map.prototype.get = () => undefined;",
        'JSON.stringify = () => \'{"id":1,"tool":"slack","operation":"post","arguments":{}}\';',
        "Object.defineProperty(Object.prototype, 'tool', { get: () => 'slack', set() {} });",
        "TextEncoder.prototype.encode = () => new Uint8Array([123, 10]);",
        "Promise.prototype.then = function () { return this };",
        "globalThis.Deno = undefined; globalThis.JSON = undefined;",
        "Uint8Array.prototype.subarray = () => new Uint8Array(0);",
    ],
)
def test_whatever_a_script_does_to_its_own_world_it_reaches_no_more(pollution: str) -> None:
    """The client runs in that world, and is no guard; we are."""
    operations = Operations()
    text = (
        HEAD + f"{pollution}\nawait callMCPTool('exa', 'search', {{ query: 'a' }}).catch(() => {{}});\nDeno?.exit(0);"
    )
    granted = [operations.tool("search")]
    hand(typescript(text), granted, limits=BoxLimits(wall_s=2))
    assert operations.done in ([], [("search", {"query": "a"})])


def test_nobody_else_can_speak_for_the_script(box_folder: Path) -> None:
    """The folder is ours alone; a process that is not the script's is not listened to."""
    import socket
    import threading

    seen: list[int] = []
    over = threading.Event()

    def intrude() -> None:
        while not over.is_set():
            for path in box_folder.glob("aop-box-*/socket"):
                seen.append(path.parent.stat().st_mode & 0o777)
                try:
                    with socket.socket(socket.AF_UNIX) as intruder:
                        intruder.connect(str(path))
                        intruder.sendall(
                            b'{"id":1,"tool":"exa","operation":"search","arguments":{"query":"intruder"}}\n'
                        )
                        intruder.settimeout(120)
                        intruder.recv(1)  # until it is turned away: in a crowd the script itself might not get through
                except OSError:
                    pass
            time.sleep(0.0005)

    operations = Operations()
    thread = threading.Thread(target=intrude, daemon=True)
    thread.start()
    for _ in range(3):
        grant = typescript(FENCE, placeholders=("<検索語>",))
        assert hand(grant, [operations.tool("search")], {"value_1": "script"}).ok
    over.set()
    thread.join()
    assert seen
    assert set(seen) == {0o700}
    assert [arguments["query"] for _, arguments in operations.done] == ["script"] * 3


# ------------------------------------------------------------------------------------------ hostile values

_VALUES = [
    '"', "'", "`", "\\", '\\"', '", numResults: 99, x: "', '" + Deno.readTextFileSync("/etc/passwd") + "',
    "${Deno.env.get('HOME')}", "`${process.exit(7)}`", "\n", "\r\n", "\u2028", "\u2029", "\0", "*/", "//",
    "<!--", "</script>",
    '"; import x from "file:///etc/passwd" with { type: "text" }; console.log(x); "',
    'a"\nimport x from "/etc/passwd" with { type: "json" };\n"', '"});await callMCPTool("slack","post",{x:"',
    '" });\n} main();\nawait callMCPTool("exa", "delete_all", {});\nasync function z() { f({ x: "',
    "<検索語>", "$&", "$1", "\\1", "{{", "%s", "__proto__", "\ufeff", "\u202e", "😀", "x" * 100_000,
]  # fmt: skip


@pytest.mark.parametrize("value", _VALUES)
def test_a_hostile_value_reaches_nothing_that_was_not_granted(value: str) -> None:
    """It may break the script or change what it does, within the box and the grant: the gate sees every call."""
    operations = Operations()
    grant = typescript(FENCE, placeholders=("<検索語>",))
    envelope = hand(grant, [operations.tool("search")], {"value_1": value}, limits=BoxLimits(wall_s=120))
    assert {name for name, _ in operations.done} <= {"search"}
    assert "root:" not in repr(envelope)
    if envelope.error is not None:
        assert envelope.error.code == "invalid_input"


@settings(max_examples=15 if os.environ.get("HYPOTHESIS_PROFILE") != "nightly" else 500)
@given(value=st.text(st.characters(codec="utf-8", exclude_characters='"\\\n\r'), max_size=40))
def test_a_value_that_fits_its_quotes_arrives_as_it_is(value: str) -> None:
    """Unquoted, unescaped, unchanged: what the operation is asked is what the agent passed."""
    operations = Operations()
    grant = typescript(FENCE, placeholders=("<検索語>",))
    assert hand(grant, [operations.tool("search")], {"value_1": value}).ok
    assert operations.done == [("search", {"query": value, "numResults": 3})]


@pytest.mark.parametrize("value", ["x" * 1_000_000, "x" * 100_001, 1, None, ["a"], {"a": 1}, "\ud800"])
def test_a_value_that_is_no_value_starts_nothing(value: object, box_folder: Path) -> None:
    """A megabyte for one: a structured error to the model."""
    envelope = hand(typescript(FENCE, placeholders=("<検索語>",)), [Operations().tool("search")], {"value_1": value})
    assert envelope.error is not None
    assert envelope.error.code == "invalid_input"
    assert list(box_folder.iterdir()) == []


@pytest.mark.parametrize("arguments", [{}, {"value_1": "a", "text": "b"}, {"<検索語>": "a"}, {"value_2": "a"}])
def test_the_agent_passes_values_and_nothing_else(arguments: dict[str, object]) -> None:
    """The text is not its own to change."""
    envelope = hand(typescript(FENCE, placeholders=("<検索語>",)), [Operations().tool("search")], arguments)
    assert envelope.error is not None
    assert envelope.error.code == "invalid_input"


# ----------------------------------------------------------------------------------------- nothing is left


@pytest.mark.parametrize("wall", WALLS)
def test_nothing_is_left_of_a_script(wall: SecondWall, box_folder: Path) -> None:
    """However it ended: no process, no folder, no open file."""
    open_before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - one of ours is open while it is counted
    for script in (
        "console.log(1)",
        "Deno.exit(3)",
        "throw 1",
        "while (true);",
        "while (true) console.log('x'.repeat(9999))",
    ):
        box(script, wall, wall_s=0.5)
    with pytest.raises(Malformed):
        asyncio.run(
            run_script(
                f"{_RAW} await say('junk\\n'); setInterval(() => {{}}, 1e6);", refuse, BoxLimits(second_wall=wall)
            )
        )
    assert left_in(box_folder) == []
    assert len(os.listdir("/proc/self/fd")) == open_before  # noqa: PTH208 - as above
    assert not [each for each in Path("/proc").glob("[0-9]*") if _speaks_of(each, str(box_folder))]


def _speaks_of(process: Path, folder: str) -> bool:
    try:
        return folder.encode() in (process / "cmdline").read_bytes() + os.fsencode((process / "cwd").readlink())
    except OSError:
        return False


def test_a_killed_run_leaves_no_process() -> None:
    """When we are killed we can end nothing; the kernel does."""
    import signal
    import subprocess
    import sys

    script = (
        "import asyncio\nfrom aop_runtime.handover.box import run_script\n"
        "from aop_runtime.handover.limits import BoxLimits\n"
        "asyncio.run(run_script('console.log(1); setInterval(() => {{}}, 1e6)', None, BoxLimits(second_wall={!r})))"
    )
    for wall in WALLS:
        with tempfile.TemporaryDirectory() as folder:
            parent = subprocess.Popen([sys.executable, "-c", script.format(wall)], env={**os.environ, "TMPDIR": folder})
            until(lambda: _denos(folder) != [])
            os.kill(parent.pid, signal.SIGKILL)
            parent.wait()
            until(lambda: _denos(folder) == [])


def _denos(folder: str) -> list[str]:
    """Processes that work in `folder`, or have it mounted."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if b"deno" not in (process / "cmdline").read_bytes().split(b"\0")[0]:
                continue
            if folder in (process / "mountinfo").read_text() + str((process / "cwd").readlink()):
                found.append(process.name)
        except OSError:
            continue
    return found


def test_no_core_is_dumped(box_folder: Path) -> None:
    """A crash leaves the memory of the script nowhere."""
    assert box(_MEMORY["objects"]).ended.signal is not None
    assert not list(box_folder.rglob("core*"))


def test_its_report_holds_what_a_model_can_use() -> None:
    """JSON that is bounded, whatever was printed."""
    envelope = hand(typescript("console.log('o'.repeat(500_000)); console.error('e'.repeat(500_000)); process.exit(1)"))
    details = failure(envelope)
    assert len(json.dumps(details)) < 10_000
    assert envelope.error is not None
    assert len(envelope.error.message) < 1_000
