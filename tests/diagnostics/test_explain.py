"""`aop explain`: the page of a code or a name."""

from __future__ import annotations

import pytest

from pipeline.diagnostics.codes import CODES, Code
from pipeline.diagnostics.explain import UnknownCode, explain, find


@pytest.mark.parametrize("entry", list(CODES.values()), ids=lambda entry: entry.code)
def test_every_code_and_name_has_its_page(entry: Code) -> None:
    """In both languages."""
    for lang, heading in (("ja", "## 書き直し方"), ("en", "## What to write instead")):
        text = explain(entry.code, "ja" if lang == "ja" else "en")
        assert text.startswith(f"# {entry.code}: {entry.name}\n")
        assert heading in text
        assert explain(entry.name, "ja" if lang == "ja" else "en") == text


@pytest.mark.parametrize("asked", ["AOP201", "aop201", "AOP-201", "201", " tool-unreadable ", "Tool_Unreadable"])
def test_a_code_may_be_written_in_many_ways(asked: str) -> None:
    """Case, blanks and the prefix do not matter."""
    assert find(asked) == CODES["tool-unreadable"]


@pytest.mark.parametrize(
    ("asked", "meant"), [("tool-unreadble", "tool-unreadable"), ("fence", "fence-lost"), ("AOP2O1", "tool-unreadable")]
)
def test_an_unknown_code_offers_close_ones(asked: str, meant: str) -> None:
    """Misspelt names and codes find what was meant."""
    with pytest.raises(UnknownCode) as caught:
        find(asked)
    assert caught.value.asked == asked
    assert meant in caught.value.close


@pytest.mark.parametrize("asked", ["", "AOP999", "../../secrets", "x" * 100_000, "①②③"])
def test_no_input_is_a_page_by_accident(asked: str) -> None:
    """Nothing but the registry's codes and names is looked up."""
    with pytest.raises(UnknownCode) as caught:
        find(asked)
    assert not caught.value.close
