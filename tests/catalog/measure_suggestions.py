"""How often the suggestions are right (T5, T6), over the mistakes of `measured_mistakes.yaml` and the shipped catalog.

    python -m tests.catalog.measure_suggestions [--tuning-failures]

Suggestions are improved with one half of the list only. Which entries of the half that is held out fail is never
printed, and nobody should look: only its totals say how suggestions do with what nobody has thought of.
"""

from __future__ import annotations

import argparse
import time
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

_LIST = Path(__file__).with_name("measured_mistakes.yaml")


@dataclass(frozen=True, slots=True)
class Entry:
    """What was written, and every suggestion that puts it right: none for a word that means no tool."""

    written: str
    right: frozenset[str]

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


def read_entries() -> tuple[Entry, ...]:
    content = yaml.safe_load(_LIST.read_text(encoding="utf-8"))
    mistakes = (
        Entry(f"{each['written']} の {each['category']}" if "category" in each else each["written"], frozenset(each["right"]))
        for each in content["mistakes"]
    )
    return (*mistakes, *(Entry(word, frozenset()) for word in content["no_tool"]))


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


def main(*, tuning_failures: bool) -> None:
    entries = read_entries()
    catalog = load_catalog()
    print(f"{'':<10}{'mistakes':>10}{'first':>9}{'of three':>9}{'words':>8}{'quiet':>9}")
    for half in HALVES:
        it = measure(half, entries, catalog)
        rates = f"{it.first_rate:>9.1%}{it.third_rate:>9.1%}{it.words:>8}{it.quiet_rate:>9.1%}"
        print(f"{half:<10}{it.mistakes:>10}{rates}")
    print(f"{'target':<20}{FIRST_TARGET:>9.0%}{THIRD_TARGET:>9.0%}{'':>8}{QUIET_TARGET:>9.0%}")
    print(f"{_microseconds_each(entries):.0f} µs for each word that was not asked before")
    if not tuning_failures:
        return
    for entry in entries:
        answer = suggestions(entry.written, catalog)
        if entry.half == "tuning" and not is_right(entry, answer, 1):
            print(f"{entry.written}: {answer}, not {sorted(entry.right)}")


def _microseconds_each(entries: tuple[Entry, ...]) -> float:
    """With a catalog that has answered one word, and so knows its words, and remembers no other answer."""
    catalog = load_catalog()
    suggestions("warm-up", catalog)
    start = time.perf_counter()
    for entry in entries:
        suggestions(entry.written, catalog)
    return (time.perf_counter() - start) * 1e6 / len(entries)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning-failures", action="store_true", help="print what fails in the half for tuning")
    main(tuning_failures=parser.parse_args().tuning_failures)
