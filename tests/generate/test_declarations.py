"""What a generated module imports, and what it does when it is run by itself."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import pytest

import aop_runtime
from aop_runtime import DeclarationError, Handover, Http, Mcp, Phase, Procedure, Standard
from aop_runtime.describe import describe
from tests.generate.samples import BROWSER, CRM, FREEE, WEEKLY, Code, Hand, Step, document, evaluate, module_of

ROOT = Path(__file__).parents[2]


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    path = folder / "procedure.py"
    path.write_text(module_of(WEEKLY).source, encoding="utf-8")
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(
        [sys.executable, str(path), *arguments], capture_output=True, env=variables, timeout=60, check=False
    )


def test_a_module_run_by_itself_says_what_it_declares(tmp_path: Path) -> None:
    """Phases, what each may use, read and write, hand-overs and calls; exit status 0."""
    done = run(tmp_path, "--describe", PYTHONUTF8="1")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == (
        "手順: 週次報告\n"
        "フェーズ 1: 集める\n"
        "  - slack [notify, history] (読み書き): post_message, search_messages\n"
        "  - hitl\n"
        "フェーズ 2: 調べる\n"
        "  - そのまま渡す handover_1 → exa [web] (読むだけ, TypeScript): web_search_exa; 差し替え <語>\n"
        "フェーズ 3: 請求する\n"
        "  別の手順を実行: 請求\n"
    )


def test_it_speaks_english_and_runs_where_japanese_cannot_be_shown(tmp_path: Path) -> None:
    """A terminal's encoding is no reason to fail."""
    done = run(tmp_path, "--describe", "--lang", "en", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert b"Phase 1: \\u96c6\\u3081\\u308b\n" in done.stdout
    assert b"(reads only, TypeScript)" in done.stdout


def test_wrong_usage_is_status_2(tmp_path: Path) -> None:
    """And says how it is used."""
    done = run(tmp_path, "--lang", "xx", PYTHONUTF8="1")
    assert done.returncode == 2
    assert b"usage" in done.stderr


def test_the_description_covers_every_kind_of_tool() -> None:
    """Unknown operations, granted words, options, fixed arguments; a phase without tools."""
    hand = Hand(0, "bigquery", ("query",), False, "argument", ("run_query",), "sql", '{"project_id":"acme"}', ())
    sample = document(
        Step("調べる", (Code("select 1\n", "sql"),), (CRM, BROWSER, FREEE), (hand,)), Step("考える", number=2)
    )
    text = describe(evaluate(module_of(sample).source), "en")
    assert "  - my_crm (reads only): operations are known once connected\n" in text
    assert "  - browser [read] (profile: github-login): read, navigation\n" in text
    assert "(reads and writes, argument sql): run_query; fixed arguments project_id=acme\n" in text
    assert "Phase 2: 考える\n  no tools\n" in text


def test_the_description_obeys_no_document() -> None:
    """Control characters in a title do nothing to the terminal."""
    procedure = Procedure(name="a\x1b[31m\n", phases=(Phase(number=None, title="\u202eb　c", instructions=""),))
    assert describe(procedure) == "手順: a\\x1b[31m\\n\n\\u202eb　c\n  道具なし\n"


def test_the_package_exports_what_a_module_imports() -> None:
    """And stands alone: it imports nothing of the compiler."""
    assert {"Handover", "Http", "Mcp", "Phase", "Procedure", "Standard"} <= set(aop_runtime.__all__)
    script = (
        "import sys, aop_runtime; print({'pipeline', 'catalog', 'cli'} & {name.split('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert done.stdout.strip() == b"set()"


def test_declarations_are_immutable() -> None:
    """Their mappings too: what was proven is what runs."""
    tool: Any = Standard("browser", options={"profile": "x"})
    with pytest.raises(FrozenInstanceError):
        tool.tool = "slack"
    with pytest.raises(TypeError):
        tool.options["profile"] = "y"
    assert tool == Standard("browser", options={"profile": "x"})
    assert hash(tool) == hash(Standard("browser", options={"profile": "x"}))


AGENT: dict[str, Any] = {"number": 1, "title": "x", "instructions": "y"}
HANDED: dict[str, Any] = {
    "name": "handover_1",
    "tool": "exa",
    "read_only": True,
    "mode": "typescript",
    "operations": ("web",),
    "text": "f();\n",
}
CONNECTOR: dict[str, Any] = {"tool": "exa", "read_only": True, "operations": ("web",)}
CALL: dict[str, Any] = {"number": 1, "title": "x", "calls": "y"}
WHOLE: dict[str, Any] = {"name": "x", "phases": (Phase(**AGENT),)}

WRONG: dict[str, tuple[Callable[..., object], dict[str, Any]]] = {
    "an empty tool name": (Standard, {"tool": ""}),
    "categories as a list": (Mcp, CONNECTOR | {"categories": ["web"]}),
    "an empty category": (Mcp, CONNECTOR | {"categories": ("",)}),
    "read-only as a number": (Http, CONNECTOR | {"read_only": 1}),
    "operations as a string": (Http, CONNECTOR | {"operations": "web"}),
    "granted words that are unknown": (Standard, {"tool": "browser", "operations": None}),
    "options that are no strings": (Standard, {"tool": "browser", "options": {"profile": 1}}),
    "a number that is a boolean": (Phase, AGENT | {"number": True}),
    "a title that is none": (Phase, AGENT | {"title": None}),
    "an agent without instructions": (Phase, AGENT | {"instructions": None}),
    "a call with instructions": (Phase, CALL | {"instructions": ""}),
    "a call with tools": (Phase, CALL | {"tools": (Standard("hitl"),)}),
    "a call with hand-overs": (Phase, CALL | {"handovers": (Handover(**HANDED),)}),
    "a call of nothing": (Phase, CALL | {"calls": ""}),
    "tools that are none": (Phase, AGENT | {"tools": ("slack",)}),
    "hand-overs that are none": (Phase, AGENT | {"handovers": ("slack",)}),
    "a hand-over without a name": (Handover, HANDED | {"name": ""}),
    "a hand-over without a text": (Handover, HANDED | {"text": ""}),
    "another mode": (Handover, HANDED | {"mode": "python"}),
    "TypeScript with an argument": (Handover, HANDED | {"argument": "sql"}),
    "an argument without its name": (Handover, HANDED | {"mode": "argument"}),
    "an argument of two operations": (
        Handover,
        HANDED | {"mode": "argument", "argument": "sql", "operations": ("a", "b")},
    ),
    "fixed arguments that are none": (Handover, HANDED | {"fixed_arguments": []}),
    "an empty placeholder": (Handover, HANDED | {"placeholders": ("",)}),
    "a procedure without phases": (Procedure, WHOLE | {"phases": ()}),
    "a procedure without a name": (Procedure, WHOLE | {"name": ""}),
    "phases that are none": (Procedure, WHOLE | {"phases": ("y",)}),
}


@pytest.mark.parametrize(("declaration", "arguments"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_value_is_named_where_it_stands(declaration: Callable[..., object], arguments: dict[str, Any]) -> None:
    """A module that was edited by hand fails at the mistake, with the declaration, the argument and the value."""
    with pytest.raises(DeclarationError, match=r"^\w+: \w+ must be .+, not "):
        declaration(**arguments)


@pytest.mark.parametrize("constructor", [Mcp, Http])
def test_what_would_allow_more_must_be_written(constructor: Callable[..., object]) -> None:
    """Neither read-only nor the operations of a connector have a default."""
    with pytest.raises(TypeError):
        constructor("exa", read_only=True)
    with pytest.raises(TypeError):
        constructor("exa", operations=())
