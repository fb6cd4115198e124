"""Suggestions, measured over two lists of mistakes that were written without a look at the hint words (T5, T6)."""

from __future__ import annotations

import pytest
from measure_suggestions import (
    FIRST_TARGET,
    HALVES,
    LISTS,
    MOST_CALLS,
    QUIET_TARGET,
    THIRD_TARGET,
    Entry,
    Half,
    measure,
    read_entries,
    suggestions,
)

from catalog.load import load_catalog
from catalog.snapshot import Catalog
from tests.work import calls

ENTRIES = {name: read_entries(name) for name in LISTS}

each_list = pytest.mark.parametrize("entries", ENTRIES.values(), ids=ENTRIES)


@pytest.fixture(scope="module")
def shipped() -> Catalog:
    return load_catalog()


@each_list
@pytest.mark.parametrize("half", HALVES)
def test_suggestions_reach_their_targets(shipped: Catalog, half: Half, entries: tuple[Entry, ...]) -> None:
    """In both halves: also in the one that nothing was tuned with."""
    result = measure(half, entries, shipped)
    assert result.first_rate >= FIRST_TARGET, result
    assert result.third_rate >= THIRD_TARGET, result
    assert result.quiet_rate >= QUIET_TARGET, result


@each_list
def test_a_list_is_large_and_its_answers_exist(shipped: Catalog, entries: tuple[Entry, ...]) -> None:
    """At least 300 mistakes and 100 words that mean no tool, about half of them held out; each mistake is one."""
    mistakes = [entry for entry in entries if entry.right]
    words = [entry for entry in entries if not entry.right]
    assert len(mistakes) >= 300
    assert len(words) >= 100
    assert len({entry.written for entry in entries}) == len(entries)
    for some in (mistakes, words):
        assert 0.4 < sum(entry.half == "held out" for entry in some) / len(some) < 0.6
    tools = shipped.tools()
    names = {tool.name for tool in tools}
    categories = {f"{tool.name} の {category.name}" for tool in tools for category in tool.categories}
    right = {answer for entry in mistakes for answer in entry.right}
    assert right <= names | categories
    assert [entry.written for entry in entries if suggestions(entry.written, shipped) is None] == []


def test_the_lists_cover_every_tool(shipped: Catalog) -> None:
    """A list that was written blind is left as it was: the first one has the tools that came later."""
    right = {answer for entries in ENTRIES.values() for entry in entries for answer in entry.right}
    assert {answer.split(" の ")[0] for answer in right} == {tool.name for tool in shipped.tools()}


@each_list
def test_an_unknown_word_costs_little(entries: tuple[Entry, ...]) -> None:
    """In calls of functions: time would be the machine's as well."""
    catalog = load_catalog()
    suggestions("warm-up", catalog)
    assert calls(lambda: [suggestions(entry.written, catalog) for entry in entries]) <= MOST_CALLS * len(entries)
