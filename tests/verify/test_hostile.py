"""Any text gets a verdict (I3): broken, hostile or huge, in bounded time and memory, never an exception."""

from __future__ import annotations

import time
import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.stages.verify import verify
from tests.generate.samples import WEEKLY, Code, Document, Step, document, evaluate, module_of

SOURCE = module_of(WEEKLY).source
START = SOURCE.index("PROCEDURE = ")


def proven(source: str, sample: Document = WEEKLY) -> bool:
    return verify(source, sample.parsed, sample.resolved).proven


@given(st.text())
@example("\0")
@example("\ud800")
@example("\ufeff" + SOURCE)
@example("é = 1\x1a")
def test_any_text_gets_a_verdict(source: str) -> None:
    """Not Python, not text that a file can hold, nothing at all."""
    assert not proven(source)


PIECES = st.text(max_size=5) | st.sampled_from(["(", ")", '"', "\\", "\n", "#", ",", "None", "{}", "*", "'" * 3, " "])


@given(st.integers(0, len(SOURCE)), st.integers(0, 40), PIECES)
@example(SOURCE.index("【手順】"), 4, "【作業】")
def test_a_damaged_module_that_is_proven_declares_the_same(start: int, length: int, inserted: str) -> None:
    """A piece cut out or put in anywhere: refused, or Python makes the same declarations of it. Only prose is free."""
    source = SOURCE[:start] + inserted + SOURCE[start + length :]
    if proven(source):
        assert declarations(source) == declarations(SOURCE)


def declarations(source: str) -> list[tuple[object, ...]]:
    procedure = evaluate(source)
    return [
        (procedure.name, phase.number, phase.title, phase.calls, phase.tools, phase.handovers)
        for phase in procedure.phases
    ]


DEEP = {
    "parentheses": "(" * 5000 + ")" * 5000,
    "negations": "-" * 100_000 + "1",
    "attributes": "a" + ".b" * 100_000,
    "calls": "a" + "()" * 100_000,
    "sums": "1" + "+1" * 100_000,
    "lambdas": "lambda:" * 50_000 + "1",
    "conditions": "1 if 1 else " * 50_000 + "1",
    "f-strings": 'f"{' * 200,
    "lists": "[" * 190 + "]" * 190,
    "digits": "9" * 100_000,
    "a number that cannot be written in decimal digits": "0x1" + "0" * 20_000,
    "names": "\\N{DIGIT ONE}" * 10_000,
}


@pytest.mark.parametrize("expression", DEEP.values(), ids=DEEP.keys())
def test_nesting_is_refused_wherever_it_stands(expression: str) -> None:
    """What the parser gives up on, and what it does not."""
    assert not proven(expression)
    assert not proven(f"{SOURCE[:START]}PROCEDURE = {expression}\n")
    assert not proven(SOURCE.replace('title="集める"', f"title={expression}"))
    assert not proven(SOURCE.replace('title="集める"', f'title="集める", tools={expression}'))
    assert not proven(SOURCE.replace("number=1", f"number={expression}"))


CODE = "()," * 3_300_000 + ")"

HUGE = {
    "numbers": "(" + "1," * 5_000_000 + ")",
    "statements": "x=1\n" * 2_500_000,
    "text": "あ" * 10_000_000,
    "quotes": '"\\' * 5_000_000,
    "escaped quotes": '\\"' * 5_000_000,
    "blanks": " " * 10_000_000,
    "lines": "\n" * 10_000_000,
    "a comment": "#" * 10_000_000,
    "empty strings": '"" ' * 3_333_333,
    "code behind a quoted quote": "('\"', " + CODE,
    "code behind a quote in a comment": '(  # "\n' + CODE,
    "code behind quotes of other sorts": "(" + "'" * 3 + '"' + "'" * 3 + ", " + CODE,
    "code behind an escaped line end": '("\\\n", ' + CODE,
    "code in a formatted string": 'f"{(' + CODE + '}"',
    "code between formatted strings": 'f""(' + CODE + 'f""',
    "a long name": "a" * 10_000_000,
}


@pytest.mark.parametrize("text", HUGE.values(), ids=HUGE.keys())
def test_ten_megabytes_are_refused_in_bounded_time_and_memory(text: str) -> None:
    """A source that no document of this size can have is not parsed at all, or cheaply."""
    tracemalloc.start()
    started = time.process_time()
    assert not proven(f"{SOURCE[:START]}PROCEDURE = {text}")
    elapsed, (_, peak) = time.process_time() - started, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert elapsed < 20
    assert peak < 400 << 20


def test_a_large_module_of_a_large_document_is_proven() -> None:
    """The bound on large sources is one that no honest module meets."""
    sample = document(*[Step("書く", ("文。" * 200, Code("あ" * 2000 + "\n")), number=number) for number in range(500)])
    source = module_of(sample).source
    assert len(source) > 1 << 20
    assert proven(source, sample)


def seconds(phases: int, fences: int) -> float:
    sample = document(*[Step("書く", tuple(Code(f"{n}\n") for n in range(fences)), number=n) for n in range(phases)])
    source = module_of(sample).source
    started = time.process_time()
    assert proven(source, sample)
    return time.process_time() - started


@pytest.mark.parametrize(("phases", "fences"), [(500, 1), (1, 2000)])
def test_time_grows_with_size_and_no_faster(phases: int, fences: int) -> None:
    """Four times the phases, four times the fences in one phase: about four times the time."""
    small = min(seconds(phases + n, fences + n) for n in range(3))  # never the same module, which would be known
    large = (seconds(phases * 4 + n if phases > 1 else 1, fences * 4 + n if fences > 1 else 1) for n in range(3))
    assert any(each < 16 * small for each in large)


def test_many_equal_and_missing_fences_take_linear_time() -> None:
    """A hundred thousand fences of which none is there, and marks that close none."""
    sample = document(Step("書く", tuple(Code(f"{n % 10}\n") for n in range(20_000))))
    source = module_of(sample).source.replace('"```" "\\n"', '"```x" "\\n"')
    started = time.process_time()
    assert len(verify(source, sample.parsed, sample.resolved).faults) == 20_000
    assert time.process_time() - started < 10
