"""How often the suggestions are right (T5, T6), over two lists of mistakes and the shipped catalog.

    python -m tests.catalog.measure_suggestions [--tuning-failures]

Each list was written without a look at the hint words. Suggestions are improved with one half of a list only. Which
entries of the half that is held out fail is never printed, nor its figures by kind, and nobody should look: only its
totals say how suggestions do with what nobody has thought of.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

import yaml

from catalog.load import load_catalog
from catalog.view import CatalogView
from pipeline.artifacts import Item
from pipeline.resolution.items import read_item

Half = Literal["tuning", "held out"]
HALVES: tuple[Half, Half] = ("tuning", "held out")

FIRST_TARGET = 0.95
THIRD_TARGET = 0.99
QUIET_TARGET = 0.95
MOST_MILLISECONDS = 0.3
"""Of a processor of 2024, where nothing else runs."""
MOST_CALLS = 2_000
"""Of functions, for a word: what such a time is, whatever the machine."""

LISTS = ("measured_mistakes.yaml", "blind_mistakes.yaml")


@dataclass(frozen=True, slots=True)
class Entry:
    """What was written, and every suggestion that puts it right: none for a word that means no tool."""

    written: str
    right: frozenset[str]
    kind: str = ""

    @property
    def half(self) -> Half:
        return HALVES[sha256(self.written.encode()).digest()[-1] % 2]


@dataclass(frozen=True, slots=True)
class Measure:
    """Of one half. Rates are from 0 to 1."""

    mistakes: int
    first: int
    among_three: int
    words: int
    quiet: int

    @property
    def first_rate(self) -> float:
        return self.first / self.mistakes

    @property
    def third_rate(self) -> float:
        return self.among_three / self.mistakes

    @property
    def quiet_rate(self) -> float:
        return self.quiet / self.words


def read_entries(name: str) -> tuple[Entry, ...]:
    """Of one of the `LISTS`."""
    content = yaml.safe_load(Path(__file__).with_name(name).read_text(encoding="utf-8"))
    mistakes = (_entry(**each) for each in content["mistakes"])
    return (*mistakes, *(Entry(word, frozenset()) for word in content["no_tool"]))


def _entry(written: str, right: list[str], category: str = "", kind: str = "") -> Entry:
    return Entry(f"{written} の {category}" if category else written, frozenset(right), kind)


def suggestions(written: str, catalog: CatalogView) -> tuple[str, ...] | None:
    """What a compile suggests for `(使う道具: written)`; None where it finds no fault."""
    reading = read_item(Item(written, written, (), False, 0), written, catalog)
    return reading.faults[0].suggestions if reading.faults else None


def is_right(entry: Entry, answer: tuple[str, ...] | None, among: int) -> bool:
    """Whether one of the first `among` is right, or nothing is suggested where nothing is meant."""
    if not entry.right:
        return answer == ()
    return answer is not None and not entry.right.isdisjoint(answer[:among])


def measure(half: Half, entries: tuple[Entry, ...], catalog: CatalogView) -> Measure:
    answers = [(entry, suggestions(entry.written, catalog)) for entry in entries if entry.half == half]
    mistakes = [(entry, answer) for entry, answer in answers if entry.right]
    words = [(entry, answer) for entry, answer in answers if not entry.right]
    return Measure(
        mistakes=len(mistakes),
        first=sum(is_right(entry, answer, 1) for entry, answer in mistakes),
        among_three=sum(is_right(entry, answer, 3) for entry, answer in mistakes),
        words=len(words),
        quiet=sum(is_right(entry, answer, 0) for entry, answer in words),
    )


def report(entries: tuple[Entry, ...], *, tuning_failures: bool) -> Iterator[str]:
    """Of one list, line by line."""
    catalog = load_catalog()
    yield f"{'':<28}{'mistakes':>10}{'first':>9}{'of three':>9}{'words':>8}{'quiet':>9}"
    for half in HALVES:
        it = measure(half, entries, catalog)
        rates = f"{it.first_rate:>9.1%}{it.third_rate:>9.1%}{it.words:>8}{it.quiet_rate:>9.1%}"
        yield f"{half:<28}{it.mistakes:>10}{rates}"
    for kind in dict.fromkeys(entry.kind for entry in entries if entry.kind):
        it = measure("tuning", tuple(entry for entry in entries if entry.kind == kind), catalog)
        yield f"  {kind:<26}{it.mistakes:>10}{it.first_rate:>9.1%}{it.third_rate:>9.1%}"
    yield f"{'at least':<38}{FIRST_TARGET:>9.0%}{THIRD_TARGET:>9.0%}{'':>8}{QUIET_TARGET:>9.0%}"
    yield f"{milliseconds_each(entries):.2f} ms for each word that was not asked before (at most {MOST_MILLISECONDS})"
    if tuning_failures:
        for entry in entries:
            answer = suggestions(entry.written, catalog)
            if entry.half == "tuning" and not is_right(entry, answer, 1):
                yield f"{entry.written}: {answer}, not {sorted(entry.right)}"


def milliseconds_each(entries: tuple[Entry, ...]) -> float:
    """Of processor time, with a catalog that has learnt its words by answering one, and remembers no other answer."""
    catalog = load_catalog()
    suggestions("warm-up", catalog)
    start = time.process_time()
    for entry in entries:
        suggestions(entry.written, catalog)
    return (time.process_time() - start) * 1e3 / len(entries)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning-failures", action="store_true", help="print what fails in the half for tuning")
    arguments = parser.parse_args()
    for each in LISTS:
        lines = (each, *report(read_entries(each), tuning_failures=arguments.tuning_failures))
        sys.stdout.writelines(f"{line}\n" for line in lines)
