"""What a language brings: the templates, and the phrases that fill their blanks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias


class Template(NamedTuple):
    """`message`: what is wrong; `help`: what to write instead. Blanks as in `str.format`, formats as in `wording`."""

    message: str
    help: str


Templates: TypeAlias = Mapping[str, Mapping[str, Template]]
"""By diagnostic name, then by variant."""


@dataclass(frozen=True, slots=True)
class Language:
    """`quote` holds the marks around what a user wrote; every other phrase with `{}` takes one value, `more` a number.

    `where` is the blank `{where}` in a phase (it is empty outside), `fence_at` the blank `{fence}` where the line is
    known. `reasons` translates the words of R3, `changes` those of `catalog.drift.KINDS`.
    """

    templates: Templates
    quote: tuple[str, str]
    separator: str
    more: str
    none: str
    where: str
    fence: str
    fence_at: str
    size: str
    language: str
    no_language: str
    operation: str
    candidates: str
    remark: str
    between_sentences: str
    brackets: str
    reasons: Mapping[str, str]
    changes: Mapping[str, str]
