"""A small office: documents, a catalog and a generator that a test can edit, compiled again and again through one
store."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from catalog.drift import KINDS, Kind
from catalog.load import load_catalog
from catalog.lock import Lock, Policy, locked_tool
from catalog.locking import renew
from catalog.snapshot import Catalog
from pipeline import canonical
from pipeline.artifacts import Fault, FenceSlot, PhaseCode, Unit
from pipeline.compilation import Compilation
from pipeline.compiler import Compiler, Input, Options
from pipeline.diagnostics.bind import bind
from pipeline.generators.protocol import Generator, GeneratorIdentity
from pipeline.generators.template import TemplateGenerator
from pipeline.incremental.report import StageReport
from pipeline.literals import lines
from pipeline.output import files_of
from pipeline.project import Project, ProjectDocument
from pipeline.stores.memory import MemoryStore
from pipeline.stores.protocol import Store

WEEKLY = """\
# 週次報告

毎週月曜にまとめる。

```text
社外秘
```

## フェーズ 1: 集める (使う道具: drive の files (read-only))

資料を探す。

```sql
select 1
```

## フェーズ 2: 数える (使う道具: ledger の query)

件数を数える。

## フェーズ 3: 締める (呼び出す AOP: 締め処理)

## フェーズ 4: 知らせる (使う道具: chat の notify)

担当者に知らせる。
"""

CLOSING = "# 締め処理\n\n締める。(使う道具: hitl)\n"

Entry = dict[str, Any]
"""A tool as in a catalog file."""


def operation(name: str, category: str | None, effect: str, **more: object) -> Entry:
    place = {} if category is None else {"category": category}
    return {"name": name, **place, "effect": effect, "description": f"{name} does it.", **more}


def office() -> list[Entry]:
    """The tools that `WEEKLY` uses, and some that it does not."""
    return [
        {
            "name": "drive",
            "kind": "mcp",
            "title": "Drive",
            "hints": ["共有フォルダ"],
            "categories": [
                {"name": "files", "title": "ファイル", "hints": []},
                {"name": "admin", "title": "管理", "hints": []},
            ],
            "operations": [
                operation("search_files", "files", "read", input_schema={"type": "object", "properties": {}}),
                operation("get_file", "files", "read"),
                operation("put_file", "files", "write"),
                operation("share", "admin", "write"),
            ],
        },
        {
            "name": "ledger",
            "kind": "mcp",
            "title": "Ledger",
            "hints": ["帳簿"],
            "categories": [
                {"name": "query", "title": "問い合わせ", "hints": []},
                {"name": "post", "title": "記帳", "hints": []},
            ],
            "operations": [operation("run_query", "query", "read"), operation("post_entry", "post", "write")],
        },
        {
            "name": "chat",
            "kind": "mcp",
            "title": "Chat",
            "hints": ["チャット"],
            "categories": [
                {"name": "notify", "title": "通知", "hints": []},
                {"name": "history", "title": "履歴", "hints": []},
            ],
            "operations": [
                operation("post_message", "notify", "write"),
                operation("search_messages", "history", "read"),
            ],
        },
        {"name": "hitl", "kind": "standard", "title": "人への確認", "hints": ["承認"]},
    ]


class Versioned:
    """A registered older (or newer) version of a generator, which places fences by slots as ours does."""

    def __init__(self, version: str, model: str = "", name: str = "template") -> None:
        self.identity = GeneratorIdentity(name, version, model)
        self.asked: list[str] = []

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        self.asked.append(unit.title)
        code = TemplateGenerator().generate(unit, faults)
        return PhaseCode(
            tuple(
                piece.replace("【決まり】", f"【決まり {self.identity.version}】") if isinstance(piece, str) else piece
                for piece in code.source
            )
        )


class Baking(Versioned):
    """An older version that placed fences itself: their text is in the code, as it was when the code was made."""

    def __init__(self, version: str, own: tuple[str, ...], shared: tuple[str, ...] = ()) -> None:
        super().__init__(version)
        self._texts = {"own": own, "shared": shared}

    def generate(self, unit: Unit, faults: tuple[Fault, ...]) -> PhaseCode:
        code = super().generate(unit, faults)
        return PhaseCode(tuple(self._baked(piece) if isinstance(piece, FenceSlot) else piece for piece in code.source))

    def _baked(self, slot: FenceSlot) -> str:
        text = self._texts[slot.scope][slot.fence]
        return lines(f"```\n{text}```\n" if slot.form == "instructions" else text, " " * slot.indent)


@dataclass
class World:
    """`files`: the project's documents; `entries`: the catalog's tools; `lock`: what they are compared with."""

    files: dict[str, str] = field(default_factory=lambda: {"weekly.md": WEEKLY, "closing.md": CLOSING})
    entries: list[Entry] = field(default_factory=office)
    generator: Generator = field(default_factory=TemplateGenerator)
    options: Options = field(default_factory=Options)
    store: Store = field(default_factory=MemoryStore)
    lock: Lock | None = None

    def catalog(self) -> Catalog:
        catalog = catalog_of(json.dumps({"version": 1, "tools": self.entries}))
        return catalog if self.lock is None else catalog.with_lock(self.lock)

    def pin(self, **policy: Policy) -> None:
        """Lock every operation of every tool as it is now."""
        catalog = catalog_of(json.dumps({"version": 1, "tools": self.entries}))
        used = {tool.name: [entry.name for entry in tool.operations or ()] for tool in catalog.tools()}
        lock = renew(None, (), used, catalog.tool, ())
        changed = {kind.replace("_", "-"): value for kind, value in policy.items()}
        chosen: dict[Kind, Policy] = {kind: changed.get(kind, lock.policy[kind]) for kind in KINDS}
        tools = (locked_tool(tool.name, tool.listed, tool.operations, chosen) for tool in lock.tools)
        self.lock = Lock((), chosen, tuple(tools))

    def compiler(self, store: Store | None = None) -> Compiler:
        return Compiler(self.catalog(), self.store if store is None else store, self.generator, self.options)

    def compile(self, path: str = "weekly.md", store: Store | None = None) -> Compilation:
        compiler = self.compiler(store)
        return compiler.compile(self.input(path), self.project(compiler, path))

    def plan(self, path: str = "weekly.md") -> tuple[StageReport, ...]:
        compiler = self.compiler()
        return compiler.plan(self.input(path), self.project(self.compiler(MemoryStore()), ""))

    def input(self, path: str) -> Input:
        return Input(path, self.files[path].encode("utf-8", "surrogatepass"))

    def project(self, compiler: Compiler, path: str) -> Project:
        """Every other document is surveyed beside the store: only what happens to `path` is looked at."""
        size = self.options.max_bytes
        return Project(surveyed(other, self.input(other).data, size) for other in self.files)

    def edit(self, old: str, new: str, path: str = "weekly.md") -> None:
        text = self.files[path]
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path}"
        self.files[path] = text.replace(old, new)

    def tool(self, name: str) -> Entry:
        return next(entry for entry in self.entries if entry["name"] == name)

    def operation(self, tool: str, name: str) -> Entry:
        found: Entry = next(entry for entry in self.tool(tool)["operations"] if entry["name"] == name)
        return found

    def copy(self) -> World:
        return replace(self, files=dict(self.files), entries=deepcopy(self.entries))


@lru_cache(maxsize=4096)
def surveyed(path: str, data: bytes, max_bytes: int) -> ProjectDocument:
    """What a project knows of a document. Kept: a property asks for the same documents again and again."""
    compiler = Compiler(catalog_of(_NO_TOOLS), MemoryStore(), TemplateGenerator(), Options(max_bytes=max_bytes))
    return compiler.survey(Input(path, data)).document


_NO_TOOLS = json.dumps({"version": 1, "tools": []})
_catalogs: dict[str, Catalog] = {}


def catalog_of(text: str) -> Catalog:
    """The catalog of a file with this text."""
    if text not in _catalogs:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "catalog.yaml"
            file.write_text(text, encoding="utf-8")
            _catalogs[text] = load_catalog([file])
    return _catalogs[text]


def what_ran(stages: tuple[StageReport, ...]) -> dict[str, str]:
    """Every stage that was not simply reused or skipped, `generate 2` for phase 2's generation, with its outcome if
    that is not
    *ran*, and its reason."""
    shown: dict[str, str] = {}
    for report in stages:
        if report.outcome in ("reused", "skipped"):
            continue
        name = report.stage if report.phase is None else f"{report.stage} {report.phase}"
        shown[name] = report.reason if report.outcome == "ran" else f"{report.outcome}: {report.reason}"
    return shown


def everything(compilation: Compilation) -> dict[str, object]:
    """All that a compile came to, `stages` aside, in a form that compares byte for byte (R4)."""
    return {
        "status": compilation.status,
        "name": compilation.name,
        "kind": compilation.kind,
        "diagnostics": [repr(entry) for entry in bind(compilation.findings, compilation.positions, "ja")],
        "positions": compilation.positions,
        "parsed": compilation.parsed and canonical.dumps(compilation.parsed),
        "resolved": compilation.resolved and canonical.dumps(compilation.resolved),
        "module": compilation.module and (compilation.module.data, compilation.module.source_map),
        "files": files(compilation),
    }


def files(compilation: Compilation) -> dict[str, bytes]:
    """What would be written: the module, the manifest with lines and digests, the graph."""
    parsed, resolved, module = compilation.parsed, compilation.resolved, compilation.module
    if parsed is None or resolved is None or module is None:
        return {}
    identity = TemplateGenerator().identity
    return files_of(compilation.sha256, parsed, resolved, compilation.positions, module, identity, compilation.carried)


Edit = Callable[[World], None]
