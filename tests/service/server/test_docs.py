"""The pages on HTTP name what there is, in both languages, and nothing that there is not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from starlette.routing import Route

from server.errors import STATUS
from server.faults import Problem
from server.hooks.several import Reason
from server.mcp.app import TOOLS
from server.rest.places import VIEWS
from workers.ledger.records import DocumentState, State
from workers.settings import Settings
from workers.tokens import SCOPES, Refusal

from .running import Running

ROOT = Path(__file__).parents[3]
PAGES = {lang: (ROOT / f"docs/http{lang}.md").read_text(encoding="utf-8") for lang in ("", ".ja")}
MCP_PAGES = {lang: (ROOT / f"docs/mcp{lang}.md").read_text(encoding="utf-8") for lang in ("", ".ja")}
EVENT = re.compile(r"emit\([^,]+, document, '([a-z-]+)'")


@pytest.mark.parametrize("lang", PAGES)
def test_all_words_are_explained(lang: str) -> None:
    """Scopes, codes, reasons, states, events, views."""
    page = PAGES[lang]
    emitted = {
        word for path in (ROOT / "workers/ledger/lua").glob("*.lua") for word in EVENT.findall(path.read_text("utf-8"))
    }
    codes = set(STATUS) - {"confirmation_required"}  # of MCP only
    words = {*SCOPES, *codes, *get_args(Refusal), *get_args(State), *get_args(DocumentState), *emitted, *VIEWS}
    words |= {*get_args(Problem), *get_args(Reason)}
    assert {word for word in words if word not in page} == set()


@pytest.mark.parametrize("lang", PAGES)
def test_all_routes_are_named(running: Running, lang: str) -> None:
    """Each path, with a blank where one stands."""
    page = PAGES[lang]
    paths = {route.path.replace(":path", "") for route in running.app.routes if isinstance(route, Route)}
    changes = {f"/v1/recompiles/{{id}}/{change}" for change in ("resume", "cancel")}  # shortened, beside …/pause
    assert {path for path in paths - changes if path not in page} == set()


@pytest.mark.parametrize("lang", PAGES)
def test_all_settings_exist(lang: str) -> None:
    """A variable that is named can be set, but for the token of `aop push`."""
    variables = {f"AOP_{name.upper()}" for name in Settings.model_fields}
    assert set(re.findall(r"AOP_[A-Z0-9_]+", PAGES[lang])) - variables == {"AOP_TOKEN"}


def test_both_pages_say_the_same() -> None:
    """As many sections, table rows and examples, the same codes in the same order."""
    for form in (r"^#+ ", r"^\|", r"^```", r"^### `.*`$"):
        english, japanese = (re.findall(form, page, re.MULTILINE) for page in PAGES.values())
        assert english == japanese if "`.*" in form else len(english) == len(japanese)


@pytest.mark.parametrize("lang", MCP_PAGES)
def test_the_page_on_mcp_names_every_tool(lang: str) -> None:
    """With its scope and all that it takes; the errors that a call may end in; the revisions."""
    page = MCP_PAGES[lang]
    rows = {row[0]: row for row in re.findall(r"^\| `(\w+)` \| `([a-z:]+)` \| (.*) \| .* \|$", page, re.MULTILINE)}
    assert {name: row[1] for name, row in rows.items()} == {name: tool.scope for name, tool in TOOLS.items()}
    for name, tool in TOOLS.items():
        assert {field for field in tool.arguments.model_fields if f"`{field}`" not in rows[name][2]} == set()
    codes = set(STATUS) - {"confirmation_required", "conflict"}  # of tools that are still to come
    assert {code for code in codes if f"`{code}`" not in page} == set()
    assert LATEST_MODERN_VERSION in page
    assert LATEST_HANDSHAKE_VERSION in page


def test_both_pages_on_mcp_say_the_same() -> None:
    """As many sections, rows and examples."""
    for form in (r"^#+ ", r"^\|", r"^```", r"^- "):
        english, japanese = (re.findall(form, page, re.MULTILINE) for page in MCP_PAGES.values())
        assert len(english) == len(japanese)
