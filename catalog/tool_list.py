"""The page of usable tools, in both languages, from the shipped catalog.

python -m catalog.tool_list            write docs/tools.md and docs/tools.ja.md
python -m catalog.tool_list --check    write nothing; exit status 1 where a page is not what would be written
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from catalog.load import load_catalog
from catalog.model import Operation, Tool

Language = Literal["ja", "en"]

DOCS = Path(__file__).parent.parent / "docs"
PAGES: dict[Language, str] = {"en": "tools.md", "ja": "tools.ja.md"}

_TEXTS: dict[str, tuple[str, str]] = {
    "other": ("[English](tools.md)", "[日本語](tools.ja.md)"),
    "title": ("使える道具", "Usable tools"),
    "intro": (
        "`aop` に付属するカタログの道具です。"
        "`(使う道具: …)` には**名前**を書きます（題や業務での呼び名ではありません）。"
        "`NAME の CATEGORY` でカテゴリを、`(read-only)` で読む操作だけを使えます。"
        "「文字を受け取る」操作には、囲みを[そのまま渡せます](language.ja.md)。"
        "自分の道具の足し方は[カタログ](catalog.ja.md)にあります。",
        "The tools of the catalog that comes with `aop`. `(使う道具: …)` takes the **name** (no title, and no word that"
        " people use at work). `NAME の CATEGORY` allows one category, `(read-only)` only what reads. A fence can be"
        " [handed over](language.md) to an operation that receives text. [The catalog](catalog.md) says how to add"
        " tools of your own.",
    ),
    "generated": (
        "このページは `python -m catalog.tool_list` がカタログから作ります。",
        "This page is made from the catalog by `python -m catalog.tool_list`.",
    ),
    "standard": ("標準の道具", "Standard tools"),
    "connectors": ("接続先", "Connectors"),
    "tool": ("道具", "Tool"),
    "called": ("題", "Title"),
    "kind": ("種類", "Kind"),
    "categories": ("カテゴリ", "Categories"),
    "category": ("カテゴリ", "Category"),
    "reads": ("読む操作", "Reads"),
    "writes": ("書く操作", "Writes"),
    "receives": ("文字を受け取る（引数）", "Receives text (argument)"),
    "word": ("書き方", "Written"),
    "grants": ("許すこと", "Allows"),
    "options": ("オプション", "Options"),
    "hints": ("候補が出る呼び名", "Words that lead here"),
    "source": ("出どころ", "Source"),
    "read-on": ("{date} に調べた", "looked up on {date}"),
    "left-out": ("収録しない操作", "Left out"),
    "operations": ("操作の一覧", "The operations"),
    "read": ("読む", "read"),
    "write": ("書く", "write"),
}


def render(tools: Sequence[Tool], language: Language) -> str:
    """The page. `tools` in the order in which they are to stand."""
    standard = [tool for tool in tools if tool.kind == "standard"]
    connectors = [tool for tool in tools if tool.kind != "standard"]
    text = _Texts(language)
    lines = [f"# {text['title']}", "", text["other"], "", text["intro"], "", text["generated"], ""]
    lines += [f"## {text['standard']}", ""]
    for tool in standard:
        lines += [*_standard(tool, text), ""]
    lines += [f"## {text['connectors']}", "", *_overview(connectors, text), ""]
    for tool in connectors:
        lines += [*_connector(tool, text), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


class _Texts:
    def __init__(self, language: Language) -> None:
        self._index = 0 if language == "ja" else 1
        self.separator = "、" if language == "ja" else ", "

    def __getitem__(self, key: str) -> str:
        return _TEXTS[key][self._index]

    def row(self, *keys: str) -> tuple[str, str]:
        return "| " + " | ".join(self[key] for key in keys) + " |", "|---" * len(keys) + "|"


def _standard(tool: Tool, text: _Texts) -> Iterator[str]:
    yield from (f"### {tool.name}", "", *_words(tool, text), "")
    if not tool.grants:
        yield from (*text.row("word"), f"| `{tool.name}` |")
        return
    yield from text.row("word", "called", "grants")
    titles = {category.name: category.title for category in tool.categories}
    for word, allowed in tool.grants:
        granted = text.separator.join(titles[other] for other in allowed)
        yield f"| `{tool.name} の {word}` | {titles[word]} | {granted} |"
    if tool.options:
        written = text.separator.join(f"`{tool.name} ({option}: …)`" for option in tool.options)
        yield from ("", f"{text['options']}: {written}")


def _overview(tools: Sequence[Tool], text: _Texts) -> Iterator[str]:
    yield from text.row("tool", "called", "kind", "categories", "reads", "writes")
    for tool in tools:
        reads, writes = _split(tool.operations or ())
        kind = "MCP" if tool.kind == "mcp" else "HTTP API"
        yield (
            f"| [`{tool.name}`](#{tool.name}) | {tool.title} | {kind} | {len(tool.categories)}"
            f" | {len(reads)} | {len(writes)} |"
        )


def _connector(tool: Tool, text: _Texts) -> Iterator[str]:
    yield from (f"### {tool.name}", "", *_words(tool, text), "")
    yield from text.row("word", "called", "reads", "writes", "receives")
    groups = _groups(tool)
    for word, title, operations in groups:
        reads, writes = _split(operations)
        receivers = text.separator.join(
            f"`{entry.name}` (`{entry.text_argument}`)" for entry in (*reads, *writes) if entry.text_argument
        )
        yield f"| `{word}` | {title} | {len(reads)} | {len(writes)} | {receivers} |"
    yield from ("", *_source(tool, text), "<details>", f"<summary>{text['operations']}</summary>", "")
    for word, _, operations in groups:
        for effect, entries in zip(("read", "write"), _split(operations), strict=True):
            if entries:
                listed = text.separator.join(f"`{entry.name}`" for entry in entries)
                yield f"- `{word}` ({text[effect]}): {listed}"
    yield from ("", "</details>")


def _groups(tool: Tool) -> list[tuple[str, str, list[Operation]]]:
    """What can be written, its title, and the operations that it means."""
    operations = tool.operations or ()
    if not tool.categories:
        return [(tool.name, tool.title, list(operations))]
    return [
        (f"{tool.name} の {each.name}", each.title, [entry for entry in operations if entry.category == each.name])
        for each in tool.categories
    ]


def _words(tool: Tool, text: _Texts) -> Iterator[str]:
    yield f"{tool.title}"
    if tool.hints:
        yield from ("", f"{text['hints']}: {text.separator.join(tool.hints)}")


def _source(tool: Tool, text: _Texts) -> Iterator[str]:
    source = json.loads(tool.definition).get("source")
    if source is None:
        return
    parts = [f"<{source['url']}>", *([source["revision"]] if "revision" in source else [])]
    parts.append(text["read-on"].format(date=source["date"]))
    yield from (f"{text['source']}: {text.separator.join(parts)}", "")
    if "left_out" in source:
        yield from (f"{text['left-out']}: {text.separator.join(f'`{name}`' for name in source['left_out'])}", "")


def _split(operations: Sequence[Operation]) -> tuple[list[Operation], list[Operation]]:
    """Those that read and those that write."""
    return (
        [entry for entry in operations if entry.effect == "read"],
        [entry for entry in operations if entry.effect == "write"],
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m catalog.tool_list", description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="only look whether the pages are up to date")
    parser.add_argument("--docs", type=Path, default=DOCS, help="the folder of the pages")
    given = parser.parse_args(arguments)
    tools = load_catalog().tools()
    stale = []
    for language, page in PAGES.items():
        path, content = given.docs / page, render(tools, language)
        if not path.is_file() or path.read_text(encoding="utf-8") != content:
            stale.append(path)
            if not given.check:
                path.write_text(content, encoding="utf-8")
    if given.check and stale:
        names = " and ".join(path.name for path in stale)
        sys.stderr.write(f"{names}: not what the catalog says. Run python -m catalog.tool_list.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
