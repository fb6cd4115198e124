"""Findings as JSON, for the records that keep them beside the artifacts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pipeline.diagnostics.findings import Argument, Finding
from pipeline.garbage import uncollected
from pipeline.incremental.keys import Json, Packed, encode
from pipeline.places import At

_WHOLE: Final = At(0)[1:]


def findings_text(findings: Sequence[Finding]) -> str:
    """As JSON: the texts that occur, what is said in their numbers, and each finding as the number of what it says
    and its place. Nothing is written twice: a declaration of many faulty items stands in each one's arguments.
    """
    if not findings:
        return "[]"
    with uncollected():  # the places of half a million make no cycles
        return _written(findings)


def _written(findings: Sequence[Finding]) -> str:
    texts: dict[str, int] = {}
    said: dict[tuple[object, ...], int] = {}
    packed: list[Json] = []
    places: list[Json] = []
    for finding in findings:
        what = (finding.name, finding.variant, finding.severity, finding.phase, finding.arguments, finding.suggestions)
        number = said.setdefault(what, len(said))
        if number == len(packed):
            packed.append(_packed(finding, texts))
        at = finding.at
        # Nearly all are whole anchors: what is as it is without saying is not said.
        places.append(number if at is None else (number, at[0]) if at[1:] == _WHOLE else (number, *at))
    return encode((list(texts), packed, places))


def _packed(finding: Finding, texts: dict[str, int]) -> Json:
    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    def argument(value: Argument) -> Json:
        """A text as its number, a number in a list, several texts in a list that begins with null."""
        if isinstance(value, str):
            return number(value)
        return (value,) if isinstance(value, int) else (None, *map(number, value))

    arguments = [(number(name), argument(value)) for name, value in finding.arguments]
    suggestions = [number(text) for text in finding.suggestions]
    return finding.name, finding.variant, finding.severity, finding.phase, arguments, suggestions


def unpack_findings(packed: Sequence[Packed]) -> tuple[Finding, ...]:
    """The findings whose `findings_text` says that."""
    if not packed:
        return ()
    texts, contents, places = packed

    def argument(value: Packed) -> Argument:
        if isinstance(value, int):
            return str(texts[value])
        return int(value[0]) if value[0] is not None else tuple([texts[number] for number in value[1:]])

    said = [
        (
            name,
            phase,
            tuple([(texts[number], argument(value)) for number, value in arguments]),
            tuple([texts[number] for number in suggestions]),
            variant,
            severity,
        )
        for name, variant, severity, phase, arguments, suggestions in contents
    ]
    findings: list[Finding] = []
    for place in places:
        number, at = (place, None) if isinstance(place, int) else (place[0], At(*place[1:]))
        name, *rest = said[number]
        findings.append(Finding(name, at, *rest))
    return tuple(findings)
