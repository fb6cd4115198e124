"""What `docs/tool-plane.md` and its Japanese half show is what happens."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import get_args

import pytest

from aop_runtime.declarations import Json, Standard
from aop_runtime.plane.envelope import Envelope, ErrorCode, Truncation
from aop_runtime.plane.hooks import Hook
from aop_runtime.plane.permission import read_rules
from aop_runtime.plane.shaping import for_model
from aop_runtime.plane.spec import ToolCall
from aop_runtime.sources.plugins import PluginSource

from .given import Ops, plane

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ("tool-plane.md", "tool-plane.ja.md")

page = pytest.mark.parametrize("name", PAGES)


def blocks(name: str, kind: str) -> list[str]:
    text = (DOCS / name).read_text(encoding="utf-8")
    return re.findall(rf"^(?:~~~~|```){re.escape(kind)}\n(.*?)^(?:~~~~|```)$", text, re.MULTILINE | re.DOTALL)


def test_both_halves_show_the_same() -> None:
    """All blocks, and as many headings, table rows and points."""
    first, second = ((DOCS / name).read_text(encoding="utf-8") for name in PAGES)
    for kind in ("yaml rules", "json", "toml", "python stock"):
        assert blocks(PAGES[0], kind) == blocks(PAGES[1], kind) != []
    for mark in ("## ", "|", "- "):
        counts = [sum(line.startswith(mark) for line in text.splitlines()) for text in (first, second)]
        assert counts[0] == counts[1]


@page
def test_the_rules_are_read(name: str, tmp_path: Path) -> None:
    """As they stand there."""
    (text,) = blocks(name, "yaml rules")
    (tmp_path / "permissions.yaml").write_text(text)
    assert [rule.action for rule in read_rules(tmp_path / "permissions.yaml").rules] == ["allow", "ask", "deny", "deny"]


@page
def test_the_plug_in_works(name: str, tmp_path: Path) -> None:
    """And tells a model what there is."""
    (tmp_path / "stock.py").write_text(blocks(name, "python stock")[0])
    on = plane(asyncio.run(PluginSource(tmp_path).tools(Standard("stock"))))
    found = asyncio.run(on.call(ToolCall("1", "count", {"item": "pens"})))
    missing = asyncio.run(on.call(ToolCall("2", "count", {"item": "cups"})))
    assert (found.content, missing.error and missing.error.details) == ("3", {"items": ["pens"]})


@page
def test_the_answers_look_like_that(name: str) -> None:
    """The one that refuses, and the frame of the other."""
    refused, frame = map(json.loads, blocks(name, "json"))
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {"channel": {"type": "string"}, "text": {"type": "string"}},
        "required": ["channel", "text"],
    }
    on = plane([Ops().tool("post_message", input_schema=schema)])
    given = {"chanel": "#a", "text": "x"}
    envelope = asyncio.run(on.call(ToolCall("1", "post_message", given)))
    assert json.loads(for_model(envelope, "1", "post_message"))["error"] == refused
    cut = Truncation(path="outputs/p0t2c0.txt", total=81234, head=15000, tail=5000)
    whole = Envelope(content="…", structured={"files": []}, warnings=("…",), truncation=cut)
    assert json.loads(for_model(whole, "p0t2c0", "search_drive_files")) == frame


@page
def test_every_code_and_every_method_is_explained(name: str) -> None:
    """In the tables."""
    text = (DOCS / name).read_text(encoding="utf-8")
    for code in get_args(ErrorCode):
        assert f"\n| `{code}` | " in text
    for method in (method for method in vars(Hook) if not method.startswith("_") and method != "name"):
        assert f"\n| `{method}` | " in text
