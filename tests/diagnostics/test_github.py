"""GitHub's workflow commands: one line each, nothing in a document can end or extend it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.diagnostics.github import escape_data, escape_property, render_github
from pipeline.places import Span

from .samples import at, of


def test_a_command() -> None:
    """Level, file, range, title, and both sentences on one line."""
    lines = ["(使う道具: 会計ソフト)"]
    assert render_github([of(lines, "会計ソフト")], "docs/a.md") == (
        "::error file=docs/a.md,line=1,endLine=1,col=8,endColumn=13,title=AOP201 tool-unreadable::"
        "フェーズ 1 の宣言「(使う道具: 会計ソフト)」の「会計ソフト」は、道具として読めません。%0A"
        "使えるツールの一覧にある名前で、「道具名」か「道具名 の カテゴリ」と書いてください。候補: 「freee」。\n"
    )


def test_a_warning() -> None:
    """The severity is the command's name."""
    found = of(["x"], "x")._replace(severity="warning")
    assert render_github([found], "a.md").startswith("::warning file=a.md,")


def test_several_lines_have_no_columns() -> None:
    """GitHub takes columns only where start and end are on one line."""
    text = render_github([at(Span(1, 3, 2, 4))], "a.md")
    assert text.startswith("::error file=a.md,line=1,endLine=2,title=AOP201 tool-unreadable::")


def test_no_position() -> None:
    """The annotation is the file's."""
    text = render_github([at(None, name="document-unreadable")], "a.md")
    assert text.startswith("::error file=a.md,title=AOP102 document-unreadable::")


def test_nothing_found() -> None:
    """No diagnostics, no commands."""
    assert render_github([], "a.md") == ""


def test_escaping() -> None:
    """Percent signs first, then line ends; in properties colons and commas, too."""
    assert escape_data("100%\r\n::error::x,y") == "100%25%0D%0A::error::x,y"
    assert escape_property("a:b,c%\n") == "a%3Ab%2Cc%25%0A"


def test_a_path_does_not_reach_the_terminal() -> None:
    """Neither colours nor reordered text; what people call files stays."""
    assert "file=週次 報告.md," in render_github([of(["x"], "x")], "週次 報告.md")
    assert "file=\\x1b[31m\\u202ea.md," in render_github([of(["x"], "x")], "\x1b[31m\u202ea.md")


@given(st.text(), st.text())
def test_no_text_leaves_its_command(path: str, message: str) -> None:
    """Whatever a file is called and a message holds, it is one command on one line, with no more properties."""
    found = of(["x"], "x")._replace(message=message, help="h")
    text = render_github([found], path)
    assert text.endswith("\n")
    assert not set(text[:-1]) & set("\r\n")
    properties, _, data = text[len("::error ") :].partition("::")
    assert [entry.partition("=")[0] for entry in properties.split(",")] == [
        "file",
        "line",
        "endLine",
        "col",
        "endColumn",
        "title",
    ]
    assert data.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%") == f"{message}\nh\n"
