"""The command line's pages name the commands and options that there are, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from cli.app import build_app

from .snippets import ROOT

PAGES = [ROOT / "docs" / "cli.ja.md", ROOT / "docs" / "cli.md"]


def options() -> dict[str, set[str]]:
    """By command (`compile`, `cache stats`): its options."""
    found: dict[str, set[str]] = {}

    def visit(command: object, name: str) -> None:
        if isinstance(command, typer.core.TyperGroup):
            for child, entry in command.commands.items():
                visit(entry, f"{name} {child}".strip())
        elif isinstance(command, typer.core.TyperCommand):
            names = {option for parameter in command.params for option in parameter.opts if option.startswith("--")}
            found[name] = names - {"--help"}

    visit(typer.main.get_command(build_app("en")), "")
    return found


def table(page: Path, heading: str) -> list[list[str]]:
    """The rows of the first table below a heading, or of the page's first if the heading is empty."""
    text = page.read_text(encoding="utf-8")
    rows = text[text.index(heading) :].split("\n|---")[1].split("\n\n")[0].split("\n")[1:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_table_of_options_is_the_real_one(page: Path) -> None:
    """Each command's row lists its options; compile and check have the table of their own."""
    real = options()
    shown: dict[str, set[str]] = {}
    for commands, cell in table(page, "\n| "):
        for command in re.findall(r"`([^`]+)`", commands):
            shown[command] = set(re.findall(r"--[a-z0-9-]+", cell))
    own = {name for row in table(page, "\n## `aop compile`") for name in re.findall(r"`(--[a-z0-9-]+)", row[0])}
    assert {**shown, "compile": own, "check": own} == real


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_has_a_chapter(page: Path) -> None:
    """Nobody has to guess what a command is for."""
    text = page.read_text(encoding="utf-8")
    titles = "\n".join(re.findall(r"^## .*", text, re.MULTILINE))
    assert [name for name in {name.split()[0] for name in options()} if f"`aop {name}`" not in titles] == []
