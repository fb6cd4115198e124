"""What the READMEs show of `make dev` is what it says."""

from __future__ import annotations

import re
from typing import Final

import pytest

from cli.messages import say
from pipeline.diagnostics.lang import Lang

from .snippets import ROOT

NAMES: Final = ("url", "token", "folder", "metrics", "logs", "shell")


@pytest.mark.parametrize(("name", "lang"), [("README.ja.md", "ja"), ("README.md", "en")])
def test_the_words_of_make_dev_are_the_real_ones(name: str, lang: Lang) -> None:
    """Line by line, whatever the addresses."""
    shown = re.findall(r"```text\n(.*?)```", (ROOT / name).read_text(encoding="utf-8"), re.DOTALL)
    said = say("dev.where", lang, **dict.fromkeys(NAMES, "<>"))
    published = say("dev.succeeded", lang, document="<>", warnings="<>")
    pattern = re.escape(f"{said}\n{published}\n").replace("<>", r"\S+")
    assert any(re.fullmatch(pattern, text) for text in shown), f"{said}\n{published}"
