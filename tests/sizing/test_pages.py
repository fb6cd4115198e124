"""The tables of the pages about operating are what the committed costs give."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from bench.sizing import __main__ as command
from bench.sizing import costs, loads, tables
from bench.sizing.__main__ import PAGES, main, parts, written
from bench.sizing.tables import Lang

LANGS: tuple[Lang, ...] = ("ja", "en")


@cache
def made(lang: Lang) -> dict[str, str]:
    """The tables; not where this is imported, which every process does that runs any test."""
    return parts(costs.load(), loads.load(), lang)


@pytest.mark.parametrize("lang", LANGS)
def test_the_pages_show_what_the_costs_give(lang: Lang) -> None:
    """`python -m bench.sizing write` changes nothing. Nothing in the tables is written by hand."""
    page = PAGES[lang].read_text(encoding="utf-8")
    assert written(page, made(lang)) == page


def test_both_languages_have_the_same_numbers() -> None:
    """Table by table and line by line."""
    japanese, english = made("ja"), made("en")
    assert japanese.keys() == english.keys()
    for name in japanese:
        for mine, other in zip(japanese[name].splitlines(), english[name].splitlines(), strict=True):
            assert mine.count("|") == other.count("|")


@pytest.mark.parametrize("page", ["", "<!-- sizing:begin -->\n", "<!-- sizing:end -->\n<!-- sizing:begin -->\n"])
def test_a_page_without_marks_is_left_alone(page: str) -> None:
    """It says so instead of writing somewhere."""
    with pytest.raises(ValueError, match="sizing:begin"):
        tables.put_between(page, "sizing", "text")


def test_only_what_is_between_the_marks_changes() -> None:
    """Even where the text looks like a pattern."""
    page = "before\n<!-- a:begin -->\nold\n<!-- a:end -->\nafter\n"
    assert tables.put_between(page, "a", r"\1 new") == page.replace("old", r"\1 new")


def test_the_table_is_printed_for_other_loads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An operator's own file."""
    mine = tmp_path / "mine.toml"
    text = loads.LOADS.read_text(encoding="utf-8")
    mine.write_text(text.replace("[1_000, 100_000, 10_000_000]", "[5_000]"), encoding="utf-8")
    assert main(["table", "--loads", str(mine)]) == 0
    assert "| Documents | 5,000 |" in capsys.readouterr().out


def test_costs_that_are_not_reproduced_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do."""
    found = costs.load()
    wrong = found.model_copy(update={"figures": found.figures.model_copy(update={"through": 1e6})})
    costs.save(wrong, tmp_path / "costs.json")
    assert main(["check", "--costs", str(tmp_path / "costs.json")]) == 1
    assert "four stages" in capsys.readouterr().err


def test_pages_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both, each in its language."""
    copies: dict[Lang, Path] = {}
    for lang in LANGS:
        copies[lang] = tmp_path / PAGES[lang].name
        copies[lang].write_text("\n".join(f"<!-- {name}:begin -->\n<!-- {name}:end -->" for name in made(lang)))
    monkeypatch.setattr(command, "PAGES", copies)
    assert main(["write"]) == 0
    assert "| 設置の数 |" in copies["ja"].read_text(encoding="utf-8")
    assert "| Installations |" in copies["en"].read_text(encoding="utf-8")
