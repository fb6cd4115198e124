"""R4 as a property: any sequence of edits, compiled one after another through one store, gives byte for byte what a
clean compile of the last state gives."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from catalog.lock import POLICIES
from pipeline.compilation import Compilation
from pipeline.compiler import Options
from pipeline.generators.protocol import Generator
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental.carry import Reuse
from pipeline.stores.memory import MemoryStore

from .world import Baking, Versioned, World, everything, office, operation

BLOCKS = [
    "# 受付",
    "# 審査",
    "## フェーズ 1: 集める (使う道具: drive の files (read-only))",
    "## フェーズ 2: 数える",
    "## フェーズ 2: 数える (使う道具: ledger の query, hitl)",
    "## フェーズ 3: 回す (呼び出す AOP: 審査)",
    "## フェーズ 4",
    "## 概要",
    "## 利用可能なツール\n\n- chat の notify\n- crm",
    "(使う道具: chat の notify と drive)",
    "(使う道具: なし)",
    "(使う道具: 帳簿)",
    "(使う道具: crm (read-only))",
    "(使う道具: ledgr の query)",
    "(呼び出す AOP: 受付)",
    "（呼び出す AOP: b.md）",
    "chat で知らせ、crm に書く。",
    "担当者が確かめる。",
    "```sql\nselect 1\n```",
    "```sql\nselect 2\n```",
    "> ~~~\n> 引用の中 \n> ~~~",
    "(この文を chat の notify に、そのまま渡す。差し替え: <宛先>)\n\n```text\n<宛先> 様\n```",
    "- channel: `general`\n- channel: `other`",
    "<!-- (使う道具: slack) -->",
    "【使う道具: hitl】",
]
"""What documents are put together from: each feature of the language, and each kind of mistake."""

PATHS = ["a.md", "b.md", "sub/c.md"]

GENERATORS: list[Callable[[], Generator]] = [
    TemplateGenerator,
    lambda: Versioned("next"),
    lambda: Baking("3", own=("select 1\n",) * 9, shared=("select 1\n",) * 9),
]

Draw = Callable[[st.SearchStrategy[int]], int]


class Library(World):
    """A world whose documents are lists of blocks."""

    def __init__(self) -> None:
        super().__init__(files={}, entries=office())
        self.blocks: dict[str, list[int]] = {}

    def write(self) -> None:
        self.files = {
            path: "\n\n".join(BLOCKS[block] for block in blocks) + "\n" for path, blocks in self.blocks.items()
        }


def edit_text(library: Library, draw: Draw) -> None:
    paths = sorted(library.blocks)
    if not paths:
        return
    blocks = library.blocks[paths[draw(st.integers(0, len(paths) - 1))]]
    place = draw(st.integers(0, len(blocks)))
    match draw(st.integers(0, 3)):
        case 0:
            blocks.insert(place, draw(st.integers(0, len(BLOCKS) - 1)))
        case 1:
            del blocks[place : place + 1]
        case 2:
            blocks[place : place + 2] = blocks[place : place + 2][::-1]
        case 3:
            blocks[place : place + 1] = [draw(st.integers(0, len(BLOCKS) - 1))]


def edit_project(library: Library, draw: Draw) -> None:
    path = PATHS[draw(st.integers(0, len(PATHS) - 1))]
    if path in library.blocks and draw(st.integers(0, 1)):
        del library.blocks[path]
    else:
        count = draw(st.integers(1, 6))
        library.blocks[path] = [draw(st.integers(0, len(BLOCKS) - 1)) for _ in range(count)]


def edit_catalog(library: Library, draw: Draw) -> None:
    crm = {
        "name": "crm",
        "kind": "mcp",
        "title": "CRM",
        "hints": ["顧客"],
        "operations": [operation("find", None, "read")],
    }
    match draw(st.integers(0, 5)):
        case 0:
            library.entries = [entry for entry in library.entries if entry["name"] != "crm"]
        case 1:
            library.entries = [*(entry for entry in library.entries if entry["name"] != "crm"), crm]
        case 2:
            library.entries = office()
        case 3:
            entry = library.operation("chat", "post_message")
            entry["effect"] = "read" if entry["effect"] == "write" else "write"
        case 4:
            library.operation("chat", "post_message").update(
                text_argument="text",
                input_schema={
                    "type": "object",
                    "properties": {"channel": {"type": "string"}, "text": {"type": "string"}},
                    "required": ["channel", "text"],
                },
            )
        case 5:
            library.operation("drive", "search_files")["description"] = f"説明 {draw(st.integers(0, 2))}"


def edit_options(library: Library, draw: Draw) -> None:
    choices: tuple[Reuse, ...] = ("compatible", "exact", "never")
    library.options = Options(
        reuse=choices[draw(st.integers(0, 2))],
        rewrites=draw(st.integers(0, 2)),
        max_bytes=(1 << 20, 100)[draw(st.integers(0, 1))],
        check=bool(draw(st.integers(0, 1))),
    )


def edit_generator(library: Library, draw: Draw) -> None:
    library.generator = GENERATORS[draw(st.integers(0, len(GENERATORS) - 1))]()


def edit_lock(library: Library, draw: Draw) -> None:
    """Taken away, or made of what the catalog has now: later edits of the catalog drift from it."""
    library.lock = None
    if draw(st.integers(0, 3)):
        library.pin(description_changed=POLICIES[draw(st.integers(0, 2))])


EDITS = [edit_text, edit_text, edit_text, edit_project, edit_catalog, edit_lock, edit_options, edit_generator]


def stale(compilation: Compilation) -> bool:
    return any(finding.name in ("artifact-stale", "fence-stale") for finding in compilation.findings)


@given(st.data())
def test_incremental_equals_clean(data: st.DataObject) -> None:
    """Under `exact` and `never` always, under `compatible` whenever nothing stale is reported."""
    library = Library()
    edit_project(library, data.draw)
    edit_project(library, data.draw)
    for _ in range(data.draw(st.integers(1, 6))):
        EDITS[data.draw(st.integers(0, len(EDITS) - 1))](library, data.draw)
        library.write()
        for path in library.files:
            made = library.compile(path)
            if not stale(made):
                assert everything(made) == everything(library.compile(path, MemoryStore()))
            else:
                assert library.options.reuse == "compatible"
