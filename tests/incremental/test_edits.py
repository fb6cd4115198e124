"""R1-R3: for every kind of edit, exactly which stages and phases run, and the reason of each. Nothing else may run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pipeline.compiler import Options
from pipeline.stores.memory import MemoryStore

from .world import World, everything, operation, what_ran

Ran = dict[str, str]


@dataclass(frozen=True)
class Row:
    """`edit` changes the world after a compile of it; `ran` is what the next compile of `path` runs, with reasons."""

    name: str
    edit: Callable[[World], None]
    ran: Ran
    before: Callable[[World], None] = lambda world: None


def text(old: str, new: str, path: str = "weekly.md") -> Callable[[World], None]:
    return lambda world: world.edit(old, new, path)


def update(tool: str, name: str, **changes: object) -> Callable[[World], None]:
    return lambda world: world.operation(tool, name).update(changes)


def remove_tool(name: str) -> Callable[[World], None]:
    return lambda world: world.entries.remove(world.tool(name))


def add_tool(name: str, *operations: object) -> Callable[[World], None]:
    entry = {"name": name, "kind": "mcp", "title": name.title(), "operations": list(operations)}
    return lambda world: world.entries.append(entry)


def option(**changes: object) -> Callable[[World], None]:
    def edit(world: World) -> None:
        world.options = Options(**changes)  # type: ignore[arg-type]

    return edit


def both(*edits: Callable[[World], None]) -> Callable[[World], None]:
    def edit(world: World) -> None:
        for each in edits:
            each(world)

    return edit


def swap_phases(world: World) -> None:
    """Phase 2 before phase 1; the numbers stay with their places."""
    text = world.files["weekly.md"]
    head, first, second, rest = text.split("## フェーズ ", 3)
    first, second = "1" + second[1:], "2" + first[1:]
    world.files["weekly.md"] = "## フェーズ ".join([head, first, second, rest])


def remove_callee(world: World) -> None:
    del world.files["closing.md"]


def unlock(world: World) -> None:
    world.lock = None


def add_sibling(text: str, path: str = "new.md") -> Callable[[World], None]:
    return lambda world: world.files.update({path: text})


ROWS = [
    Row("nothing", lambda world: None, {}),
    Row("a comment", text("資料を探す。", "資料を探す。\n\n<!-- あとで直す -->"), {"parse": "document"}),
    Row("blank lines above everything", text("# 週次報告", "\n\n# 週次報告"), {"parse": "document"}),
    Row(
        "a word in one phase",
        text("資料を探す。", "資料をよく探す。"),
        {
            "parse": "document",
            "resolve": "document",
            "generate 1": "document",
            "link": "document",
            "verify": "document",
        },
    ),
    Row(
        "a phase's title",
        text(": 数える", ": 数え上げる"),
        {
            "parse": "document",
            "resolve": "document",
            "generate 2": "document",
            "link": "document",
            "verify": "document",
        },
    ),
    Row(
        "text outside all phases",
        text("毎週月曜に", "毎週火曜に"),
        {
            "parse": "document",
            "resolve": "document",
            "generate 1": "document",
            "generate 2": "document",
            "generate 4": "document",
            "link": "document",
            "verify": "document",
        },
    ),
    Row(
        "the document's name, which every agent is told",
        text("# 週次報告", "# 週間報告"),
        {
            "parse": "document",
            "resolve": "document",
            "generate 1": "document",
            "generate 2": "document",
            "generate 4": "document",
            "link": "document",
            "verify": "document",
        },
    ),
    Row(
        "a line inserted above the phases, in a comment",
        text("## フェーズ 1", "<!-- 三行\nの\n注 -->\n\n## フェーズ 1"),
        {"parse": "document"},
    ),
    Row(
        "a phase inserted, the others renumbered",
        both(
            text("フェーズ 4", "フェーズ 5"),
            text("フェーズ 3", "フェーズ 4"),
            text("## フェーズ 2", "## フェーズ 2: 確かめる (使う道具: hitl)\n\n人に聞く。\n\n## フェーズ 3"),
        ),
        {
            "parse": "document",
            "resolve": "declaration",
            "generate 2": "new",
            "link": "new",
            "verify": "new",
        },
    ),
    Row(
        "two phases swapped",
        swap_phases,
        {"parse": "document", "resolve": "document", "link": "document", "verify": "document"},
    ),
    Row(
        "a phase renumbered",
        text("フェーズ 4", "フェーズ 9"),
        {"parse": "document", "resolve": "document", "link": "document", "verify": "document"},
    ),
    Row(
        "a phase removed",
        text("## フェーズ 2: 数える (使う道具: ledger の query)\n\n件数を数える。\n\n", ""),
        {"parse": "document", "resolve": "declaration", "link": "declaration", "verify": "declaration"},
    ),
    Row(
        "a fence in a phase",
        text("select 1", "select 2"),
        {"parse": "document", "resolve": "fence", "link": "fence", "verify": "fence"},
    ),
    Row(
        "a fence outside all phases",
        text("社外秘", "社内限り"),
        {"parse": "document", "resolve": "shared-fence", "link": "shared-fence", "verify": "shared-fence"},
    ),
    Row(
        "the language of a fence in a phase",
        text("```sql", "```postgresql"),
        {"parse": "document", "resolve": "fence", "generate 1": "fence", "link": "fence", "verify": "fence"},
    ),
    Row(
        "a fence added to a phase",
        text("件数を数える。", "件数を数える。\n\n```sh\nwc -l\n```"),
        {"parse": "document", "resolve": "fence", "generate 2": "fence", "link": "fence", "verify": "fence"},
    ),
    Row(
        "a declaration",
        text("chat の notify", "chat の history"),
        {
            "parse": "document",
            "resolve": "declaration",
            "generate 4": "declaration",
            "link": "declaration",
            "verify": "declaration",
        },
    ),
    Row(
        "a declaration that says the same",
        text("(使う道具: ledger の query)", "（使う道具：ledger の query）"),
        {"parse": "document", "resolve": "declaration", "link": "declaration", "verify": "declaration"},
    ),
    Row(
        "a category more",
        text("drive の files (read-only)", "drive の files (read-only), drive の admin"),
        {
            "parse": "document",
            "resolve": "declaration",
            "generate 1": "declaration",
            "link": "declaration",
            "verify": "declaration",
        },
    ),
    Row("an unrelated tool added", add_tool("crm", operation("find", None, "read")), {}),
    Row(
        "an unrelated tool changed",
        update("chat", "search_messages", description="別の説明"),
        {"resolve": "tool-schema"},
    ),
    Row(
        "a used operation's schema",
        update("ledger", "run_query", input_schema={"type": "object", "properties": {"sql": {"type": "string"}}}),
        {"resolve": "tool-schema", "generate 2": "tool-schema", "link": "tool-schema", "verify": "tool-schema"},
    ),
    Row(
        "a used operation's effect",
        update("ledger", "run_query", effect="write"),
        {"resolve": "tool-effect", "generate 2": "tool-effect", "link": "tool-effect", "verify": "tool-effect"},
    ),
    Row(
        "a read operation that now writes, declared read-only",
        update("drive", "get_file", effect="write"),
        {"resolve": "tool-effect", "generate 1": "tool-effect", "link": "tool-effect", "verify": "tool-effect"},
    ),
    Row(
        "an operation more in a used category",
        lambda world: world.tool("ledger")["operations"].append(operation("explain", "query", "read")),
        {"resolve": "tool-schema", "generate 2": "tool-schema", "link": "tool-schema", "verify": "tool-schema"},
    ),
    Row("a used tool removed", remove_tool("chat"), {"resolve": "tool-removed"}),
    Row(
        "a tool that fixes an error",
        add_tool("crm", operation("find", None, "read")),
        {
            "resolve": "tool-added",
            "generate 1": "new",
            "generate 2": "tool-added",
            "generate 4": "new",
            "link": "new",
            "verify": "new",
        },
        before=text("ledger の query", "crm"),
    ),
    Row(
        "a tool with a word that is one to suggest",
        lambda world: world.tool("chat").update(hints=["連絡帳"]),
        {"resolve": "tool-added"},
        before=text("ledger の query", "連絡帳"),
    ),
    Row(
        "a word that was one to suggest, gone",
        lambda world: world.tool("chat").update(hints=[]),
        {"resolve": "tool-removed"},
        before=text("ledger の query", "チャット"),
    ),
    Row(
        "a misspelt name gets one more candidate",
        add_tool("ledgers", operation("find", None, "read")),
        {"resolve": "tool-added"},
        before=text("ledger の query", "ledgerz の query"),
    ),
    Row(
        "a tool that can receive text, where none could",
        update(
            "chat",
            "post_message",
            text_argument="text",
            input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        ),
        {"resolve": "tool-added"},
        before=text("```sql", "(この SQL を ledger の query に、そのまま渡す)\n\n```sql"),
    ),
    Row(
        "a connector that the text mentions",
        add_tool("crm", operation("find", None, "read")),
        {"resolve": "tool-added"},
        before=text(" (使う道具: ledger の query)\n\n件数を数える。", "\n\ncrm で件数を数える。"),
    ),
    Row(
        "a connector that the text does not mention",
        add_tool("erp", operation("find", None, "read")),
        {},
        before=text(" (使う道具: ledger の query)\n\n件数を数える。", "\n\ncrm で件数を数える。"),
    ),
    Row("a callee renamed", text("# 締め処理", "# 締切", path="closing.md"), {"resolve": "callee"}),
    Row(
        "a callee called by path, renamed",
        text("# 締め処理", "# 締切", path="closing.md"),
        {"resolve": "callee", "link": "callee", "verify": "callee"},
        before=text("呼び出す AOP: 締め処理", "呼び出す AOP: closing.md"),
    ),
    Row("a callee's text", text("締める。", "きちんと締める。", path="closing.md"), {}),
    Row(
        "a callee that calls now",
        text("締める。(使う道具: hitl)", "(呼び出す AOP: 別)", path="closing.md"),
        {"resolve": "callee"},
    ),
    Row("a callee removed", remove_callee, {"resolve": "callee"}),
    Row("an unrelated sibling", add_sibling("# 経費精算\n\n精算する。(使う道具: なし)\n"), {}),
    Row(
        "a sibling with the callee's name",
        add_sibling("# 締め処理\n\n別の締め。(使う道具: なし)\n"),
        {"resolve": "callee"},
    ),
    Row(
        "a tool in a calling phase",
        text("(呼び出す AOP: 締め処理)", "(使う道具: hitl)"),
        {"parse": "document", "resolve": "declaration", "generate 3": "new", "link": "new", "verify": "new"},
    ),
    Row("a lock where there was none", World.pin, {"resolve": "options"}),
    Row("a lock taken away", unlock, {"resolve": "options"}, before=World.pin),
    Row(
        "the policy of the lock",
        lambda world: world.pin(effect_writes="block"),
        {"resolve": "options"},
        before=World.pin,
    ),
    Row(
        "another tool locked",
        lambda world: world.pin(),
        {},
        before=both(World.pin, add_tool("crm", operation("find", None, "read"))),
    ),
    Row(
        "a used operation that drifts from the lock, to a warning",
        update("ledger", "run_query", input_schema={"type": "object", "properties": {"sql": {"type": "string"}}}),
        {"resolve": "tool-schema", "generate 2": "tool-schema", "link": "tool-schema", "verify": "tool-schema"},
        before=World.pin,
    ),
    Row(
        "a used operation that drifts from the lock, to an error",
        update("ledger", "run_query", description="別の説明"),
        {"resolve": "tool-schema"},
        before=World.pin,
    ),
    Row(
        "a drift approved",
        World.pin,
        {
            "resolve": "options",
            "generate 1": "new",
            "generate 2": "new",
            "generate 4": "new",
            "link": "new",
            "verify": "new",
        },
        before=both(World.pin, update("ledger", "run_query", description="別の説明")),
    ),
    Row(
        "an operation that is not used drifts",
        update("drive", "share", description="別の説明"),
        {"resolve": "tool-schema"},
        before=World.pin,
    ),
    Row("another size limit", option(max_bytes=1 << 19), {"parse": "options"}),
    Row("more rewrites allowed", option(rewrites=5), {}),
    Row("reuse exact, with nothing to be exact about", option(reuse="exact"), {}),
    Row(
        "reuse never",
        option(reuse="never"),
        {
            "parse": "forced",
            "resolve": "forced",
            "generate 1": "forced",
            "generate 2": "forced",
            "generate 4": "forced",
            "link": "forced",
            "verify": "forced",
        },
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_an_edit_runs_exactly_what_it_must(row: Row) -> None:
    """The plan says it beforehand (`aop why`), the compile does it, and what comes out equals a clean compile (R4)."""
    world = World()
    row.before(world)
    first = world.compile()
    assert {report.outcome for report in first.stages} <= {"ran", "skipped"}
    row.edit(world)
    planned = world.plan()
    second = world.compile()
    assert what_ran(second.stages) == row.ran
    assert planned == second.stages
    assert everything(second) == everything(world.compile(store=MemoryStore()))


REUSING = [row for row in ROWS if row.name != "reuse never"]


@pytest.mark.parametrize("row", REUSING, ids=lambda row: row.name)
def test_an_edit_that_is_taken_back_runs_nothing(row: Row) -> None:
    """All runs before are still recorded: compiling the first version again is answered from the store."""
    world = World()
    row.before(world)
    first = world.compile()
    edited = world.copy()
    row.edit(edited)
    edited.compile()
    again = world.compile()
    assert what_ran(again.stages) == {}
    assert everything(again) == everything(first)


@pytest.mark.parametrize("row", REUSING, ids=lambda row: row.name)
def test_the_next_compile_runs_nothing(row: Row) -> None:
    """Whatever ran, a third compile of the same has nothing left to run."""
    world = World()
    row.before(world)
    world.compile()
    row.edit(world)
    second = world.compile()
    third = world.compile()
    assert what_ran(third.stages) == {}
    assert everything(third) == everything(second)
