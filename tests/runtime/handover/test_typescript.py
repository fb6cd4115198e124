"""A hand-over as TypeScript: what a script can do, and what the model gets of it."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from aop_runtime.confinement import process
from aop_runtime.declarations import Handover, Json
from aop_runtime.handover.limits import BoxLimits, SecondWall
from aop_runtime.plane.context import ToolContext
from aop_runtime.plane.envelope import Envelope, Output
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.questions import Waiting
from aop_runtime.plane.spec import Tool, ToolCall, ToolSpec
from tests.runtime.given import Clock
from tests.runtime.handover.given import QUERY, WALLS, Operations, left_in, source, typescript
from tests.runtime.plane.given import NO, YES, Somebody, plane

FENCE = """import { callMCPTool } from "./client.js";

async function main(): Promise<void> {
  const result = await callMCPTool("exa", "search", {
    query: "<検索語>",
    numResults: 3,
  });
  console.log(JSON.stringify(result));
}

main().catch((e) => {
  console.error(String(e));
  process.exit(1);
});
"""
HEAD = 'import { callMCPTool } from "./client.js";\n'


def hand(
    grant: Handover,
    tools: Sequence[Tool] = (),
    arguments: Mapping[str, object] | None = None,
    *,
    limits: BoxLimits | None = None,
    person: Somebody | None = None,
    journal: MemoryJournal | None = None,
    folder: Path | None = None,
) -> Envelope:
    async def made() -> Envelope:
        offered = await source(tools, limits).tools(grant)
        phase = plane(offered, person=person, journal=journal, folder=folder)
        return await phase.call(ToolCall("c1", "handover_1", arguments or {}))

    return asyncio.run(made())


def failure(envelope: Envelope) -> dict[str, Json]:
    assert envelope.error is not None
    assert envelope.error.code == "invalid_input"
    return dict(envelope.error.details)


@pytest.mark.parametrize("wall", WALLS)
def test_the_fence_of_the_handbook_runs_and_its_output_is_the_result(wall: SecondWall) -> None:
    """With a floating `main().catch(…)`: what counts is what was printed when nothing is left to do."""
    operations = Operations()
    limits = BoxLimits(wall_s=20, second_wall=wall)
    grant = typescript(FENCE, placeholders=("<検索語>",))
    envelope = hand(grant, [operations.tool("search")], {"value_1": "ねこ"}, limits=limits)
    assert envelope.ok, envelope
    assert operations.done == [("search", {"query": "ねこ", "numResults": 3})]
    assert json.loads(envelope.content) == {"asked": {"query": "ねこ", "numResults": 3}}
    assert envelope.structured == {"exit_status": 0, "calls": 1}


def test_types_enums_and_top_level_await_are_typescript() -> None:
    """The text runs as it is written."""
    text = "enum Size { S = 1, M }\nconst x: Size = await Promise.resolve(Size.M);\nconsole.log(x satisfies number);"
    assert hand(typescript(text)).content == "2\n"


def test_types_are_not_checked() -> None:
    """A fence that is right at run time is not refused for its types."""
    assert (
        hand(typescript("const x: number = 'text' as any; const y: string = 1; console.log(x, y)")).content
        == "text 1\n"
    )


def test_what_is_still_to_come_is_waited_for() -> None:
    """Timers and calls that nobody awaits: the script has ended when nothing is left to do."""
    operations = Operations()
    text = HEAD + (
        "setTimeout(() => console.log('timer'), 200);\n"
        "callMCPTool('exa', 'search', { query: 'a' }).then((r) => console.log('call'));\nconsole.log('first');"
    )
    assert sorted(hand(typescript(text), [operations.tool("search")]).content.split()) == ["call", "first", "timer"]


def test_a_script_that_calls_nothing_ends() -> None:
    """The connection that it could use does not keep it alive."""
    assert hand(typescript(HEAD + "console.log('done')")).content == "done\n"


def test_calls_are_made_one_after_the_other_in_their_order() -> None:
    """Also where the script does not wait for one before the next."""
    operations = Operations()
    text = HEAD + (
        "const all = await Promise.all([3, 1, 2].map((n) => callMCPTool('exa', 'search', { query: `q${n}` })));\n"
        "console.log(all.map((one) => one.asked.query).join());"
    )
    envelope = hand(typescript(text), [operations.tool("search")])
    assert envelope.content == "q3,q1,q2\n"
    assert [call["query"] for _, call in operations.done] == ["q3", "q1", "q2"]


def test_a_result_without_structure_is_its_text() -> None:
    """As a string, also where the text looks like JSON."""
    operations = Operations(Output(content='{"a": 1}'))
    text = HEAD + "const r = await callMCPTool('exa', 'search', { query: 'a' }); console.log(typeof r, r);"
    assert hand(typescript(text), [operations.tool("search")]).content == 'string {"a": 1}\n'


def test_a_large_result_reaches_the_script_whole() -> None:
    """Results are shortened for models, not for scripts."""
    rows: list[Json] = [{"id": number, "名前": "ねこ" * 20} for number in range(5_000)]
    operations = Operations(Output(content="rows", structured={"rows": rows}))
    text = (
        HEAD
        + "const r = await callMCPTool('exa', 'search', { query: 'a' }); console.log(r.rows.length, r.rows[4999].名前);"
    )
    assert hand(typescript(text), [operations.tool("search")]).content == f"5000 {'ねこ' * 20}\n"


def test_large_arguments_reach_the_operation_whole() -> None:
    """Megabytes in one call."""
    operations = Operations(Output(content="ok"))
    text = HEAD + "await callMCPTool('exa', 'search', { query: 'あ'.repeat(600_000) });"
    assert hand(typescript(text), [operations.tool("search")]).ok
    assert operations.done[0][1]["query"] == "あ" * 600_000


def test_a_failed_call_is_an_error_with_a_code_that_the_script_can_catch() -> None:
    """The reason is the plane's."""
    text = HEAD + (
        "import { ToolCallError } from './client.js';\n"
        "try { await callMCPTool('exa', 'search', { wrong: 1 }); }\n"
        "catch (e) { console.log(e instanceof ToolCallError, e.code, e.details.faults.length); }"
    )
    assert hand(typescript(text), [Operations().tool("search")]).content == "true invalid_input 2\n"


# ------------------------------------------------------------------------------------------------ failures


def test_the_error_way_of_the_handbook_gives_the_model_status_and_words() -> None:
    """`console.error` and `process.exit(1)`, without importing anything."""
    operations = Operations()
    envelope = hand(
        typescript(FENCE.replace('"search"', '"crawl"'), placeholders=("<検索語>",)),
        [operations.tool("search")],
        {"value_1": "x"},
    )
    details = failure(envelope)
    assert (details["reason"], details["exit_status"]) == ("exit_status", 1)
    assert "there is no tool 'exa.crawl' here" in str(details["stderr"])
    assert envelope.error is not None
    assert "ended with status 1" in envelope.error.message


@pytest.mark.parametrize("wall", WALLS)
def test_a_value_that_breaks_the_script_is_told_so_that_it_can_be_corrected(wall: SecondWall) -> None:
    """With the place in the fence, and with nothing about this machine."""
    operations = Operations()
    limits = BoxLimits(wall_s=20, second_wall=wall)
    grant = typescript(FENCE, placeholders=("<検索語>",))
    envelope = hand(grant, [operations.tool("search")], {"value_1": 'a "quoted" word'}, limits=limits)
    details = failure(envelope)
    assert "fence.ts:5" in str(details["stderr"])
    assert envelope.error is not None
    assert "(fence.ts:5" in envelope.error.message
    assert operations.done == []
    shown = repr(envelope)
    for secret in (tempfile.gettempdir(), "aop-box-", str(Path(__file__).parents[3]), "/box", "bwrap"):
        assert secret not in shown


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("throw new Error('値が違います')", "値が違います"),
        ("await Promise.reject(new Error('later'))", "later"),
        ("setTimeout(() => { throw new Error('in a timer') }, 10)", "in a timer"),
        ("Promise.reject('floating')", "floating"),
        ("await new Promise(() => {})", "never resolved"),
        ("const x = ;", "fence.ts"),
        ("undefinedFunction()", "undefinedFunction is not defined"),
        ("import x from './other.ts'", "other.ts"),
    ],
)
def test_whatever_goes_wrong_in_it_is_a_failure(text: str, words: str) -> None:
    """Thrown, rejected, never settled, not even TypeScript."""
    envelope = hand(typescript(text))
    assert words in str(failure(envelope)["stderr"])


@pytest.mark.parametrize("status", [1, 3, 200])
def test_the_status_is_handed_on(status: int) -> None:
    """With what was printed before."""
    details = failure(hand(typescript(f"console.log('before'); Deno.exit({status})")))
    assert (details["exit_status"], details["stdout"]) == (status, "before\n")


def test_words_on_standard_error_of_a_script_that_went_well_are_a_warning() -> None:
    """They are not part of its result."""
    envelope = hand(typescript("console.error('attention'); console.log('ok')"))
    assert envelope.content == "ok\n"
    assert envelope.warnings == ("standard error: attention",)


def test_a_long_output_is_shortened_for_the_model(tmp_path: Path) -> None:
    """Its whole lies in the run's folder."""
    envelope = hand(typescript("console.log('x'.repeat(100_000))"), folder=tmp_path)
    assert envelope.truncation is not None
    assert (tmp_path / envelope.truncation.path).read_text(encoding="utf-8") == "x" * 100_000 + "\n"


# -------------------------------------------------------------------------- the plane around every call


def test_undeclared_operations_and_tools_are_not_there() -> None:
    """Neither a neighbour's nor the hand-over itself."""
    operations = Operations()
    text = HEAD + (
        "for (const [tool, operation] of [['exa', 'crawl'], ['slack', 'post'], ['exa', 'handover_1'], ['', ''],\n"
        "    ['exa', '__proto__'], ['exa', 'search\\0'], ['sandbox', 'run_shell'], ['exa', 'constructor']]) {\n"
        "  try { await callMCPTool(tool, operation, { query: 'a' }); console.log('REACHED', tool, operation); }\n"
        "  catch (e) { console.log(e.code); }\n}"
    )
    envelope = hand(typescript(text), [operations.tool("search")])
    assert envelope.content.split() == ["invalid_input"] * 8
    assert operations.done == []


def test_a_write_is_asked_for_and_a_refusal_reaches_the_script() -> None:
    """Each call on its own, with its arguments."""
    operations = Operations()
    text = HEAD + "try { await callMCPTool('exa', 'post', { query: 'a' }); } catch (e) { console.log(e.code); }"
    grant = typescript(text, operations=("post",), read_only=False)
    person = Somebody(NO)
    assert hand(grant, [operations.tool("post", "write")], person=person).content == "denied\n"
    assert operations.done == []
    assert person.questions[0].arguments == {"query": "a"}


def test_waiting_for_an_approval_ends_the_script_and_the_answer_lets_it_pass(
    box_folder: Path,
) -> None:
    """It is started again; what had ended is answered from the record and not done twice."""
    operations, journal, person = Operations(), MemoryJournal(), Somebody(None, YES)
    text = HEAD + (
        "const found = await callMCPTool('exa', 'search', { query: 'a' });\n"
        "try { await callMCPTool('exa', 'post', { query: found.asked.query + '!' }); console.log('posted'); }\n"
        "catch (e) { console.log('NOT STOPPED', e.message); }"
    )
    grant = typescript(text, operations=("search", "post"), read_only=False)
    tools = [operations.tool("search"), operations.tool("post", "write")]
    with pytest.raises(Waiting):
        hand(grant, tools, person=person, journal=journal)
    assert [name for name, _ in operations.done] == ["search"]
    assert left_in(box_folder) == []
    assert hand(grant, tools, person=person, journal=journal).content == "posted\n"
    assert operations.done == [("search", {"query": "a"}), ("post", {"query": "a!"})]


def test_time_that_a_call_takes_is_not_the_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has a time-out of its own."""
    clock = Clock()
    monkeypatch.setattr(process, "time", clock)

    async def slow(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        clock.later += 1_000
        await asyncio.sleep(0.2)  # in which the script's time is looked at several times
        return Output(content="slow")

    spec = ToolSpec(name="search", tool="exa", operation="search", description="", input_schema=QUERY, effect="read")
    text = HEAD + "console.log(await callMCPTool('exa', 'search', { query: 'a' }))"
    assert hand(typescript(text), [Tool(spec, slow)], limits=BoxLimits(wall_s=100)).content == "slow\n"


@pytest.mark.parametrize("end", ["process.exit(0)", "while (true) console.log('x'.repeat(10_000))"])
def test_a_call_under_way_is_not_broken_off_when_the_script_ends(end: str) -> None:
    """Nobody would know whether it was done. Those that had not begun are not made."""
    ends: list[str] = []

    async def slow(arguments: Mapping[str, Json], context: ToolContext) -> Output:
        await asyncio.sleep(2.5)
        ends.append(str(arguments["query"]))
        return Output(content="written")

    spec = ToolSpec(name="post", tool="exa", operation="post", description="", input_schema=QUERY, effect="write")
    text = HEAD + (
        "for (const query of ['a', 'b', 'c']) callMCPTool('exa', 'post', { query }).catch(() => {});\n"
        f"setTimeout(() => {{ {end} }}, 1_000);"
    )
    grant = typescript(text, operations=("post",), read_only=False)
    hand(grant, [Tool(spec, slow)], person=Somebody(YES, YES, YES))
    assert ends == ["a"]


def test_a_cancelled_run_leaves_neither_process_nor_folder(box_folder: Path) -> None:
    """At whatever point it is."""

    async def cancelled() -> None:
        tools = await source([]).tools(typescript("while (true);"))
        task = asyncio.create_task(plane(tools).call(ToolCall("c1", "handover_1", {})))
        while not left_in(box_folder):
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert left_in(box_folder) == []
    assert not [path for path in Path("/proc").glob("[0-9]*") if str(box_folder).encode() in _command_line(path)]


def _command_line(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


def test_what_a_killed_process_left_is_cleared_by_the_next(box_folder: Path) -> None:
    """A folder that nobody holds any more; the one of a living process stays, and so does a link."""
    from aop_runtime.handover.private_folder import private_folder

    (box_folder / "kept").mkdir()
    (box_folder / "kept" / "lock").touch()
    (box_folder / "aop-box-link").symlink_to(box_folder / "kept")
    (box_folder / "aop-box-dead").mkdir()
    (box_folder / "aop-box-dead" / "lock").touch()
    with private_folder() as living:
        assert living.stat().st_mode & 0o777 == 0o700
        with private_folder() as other:
            assert living.exists()
            assert other != living
        assert not (box_folder / "aop-box-dead").exists()
    assert left_in(box_folder) == ["aop-box-link"]
    assert (box_folder / "kept" / "lock").exists()


def test_a_folder_for_temporary_files_with_odd_signs_is_no_hindrance(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blanks, percent signs, signs of addresses."""
    odd = short_folder / "a b%20#c?d"
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    for wall in WALLS:
        limits = BoxLimits(wall_s=20, second_wall=wall)
        grant = typescript(FENCE, placeholders=("<検索語>",))
        envelope = hand(grant, [Operations().tool("search")], {"value_1": "x"}, limits=limits)
        assert envelope.ok, envelope
    assert left_in(odd) == []


@pytest.mark.parametrize("name", ["a,b", "a" * 90])
def test_a_folder_that_cannot_be_used_is_said(short_folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Commas divide lists of permissions, and no part of the path may become one; sockets have short paths."""
    odd = short_folder / name
    odd.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(odd))
    error = hand(typescript("1"), limits=BoxLimits(second_wall="off")).error
    assert error is not None
    assert error.code == "dependency_failure"
    assert "set TMPDIR" in error.message


def test_deno_does_not_wait_for_a_store_that_it_does_not_have() -> None:
    """Loading the script takes next to nothing; a store that is missing was tried five times, with pauses."""
    text = "console.log(performance.now() as number)"
    assert min(float(hand(typescript(text)).content) for _ in range(5)) < 150


def test_the_client_says_at_once_what_no_call_can_be() -> None:
    """Before anything is sent."""
    text = HEAD + (
        "for (const call of [['exa'], ['exa', 'search', []], ['exa', 'search', 'q'], ['exa', 'search', null],\n"
        "    [1, 2, {}], ['exa', 'search', { query: 1n }], ['exa', 'search', { query: 'x'.repeat(9_000_000) }]]) {\n"
        "  try { await callMCPTool(...call); console.log('SENT'); } catch (e) { console.log(e.constructor.name); }\n}"
    )
    envelope = hand(typescript(text), [Operations().tool("search")])
    assert envelope.content.split() == ["TypeError"] * 6 + ["RangeError"]
    assert re.fullmatch(r"\S+\n" * 7, envelope.content)
