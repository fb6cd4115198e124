"""Sets of code points as sorted, disjoint, inclusive ranges."""

from __future__ import annotations

import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TypeAlias

CharSet: TypeAlias = "tuple[tuple[int, int], ...]"

_LAST: Final = sys.maxunicode


def charset(ranges: Iterable[tuple[int, int]]) -> CharSet:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def single(character: int) -> CharSet:
    return ((character, character),)


def inverted(chars: CharSet) -> CharSet:
    found: list[tuple[int, int]] = []
    start = 0
    for low, high in chars:
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)


def contains(chars: CharSet, character: int) -> bool:
    at = bisect_right(chars, (character, _LAST)) - 1
    return at >= 0 and chars[at][1] >= character


def overlap(one: CharSet, other: CharSet) -> bool:
    """Whether some character is in both."""
    left = right = 0
    while left < len(one) and right < len(other):
        if one[left][1] < other[right][0]:
            left += 1
        elif other[right][1] < one[left][0]:
            right += 1
        else:
            return True
    return False


DIGIT: Final = charset([(0x30, 0x39)])
WORD: Final = charset([(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)])
LINE_END: Final = charset([(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)])
_SPACES: Final = (0x20, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000, 0xFEFF)
SPACE: Final = charset([(0x09, 0x0D), (0x2000, 0x200A), *((code, code) for code in _SPACES)])
ANY: Final = inverted(())

_CATEGORIES: Final = {
    "Letter": "L",
    "Cased_Letter": "LC",
    "Uppercase_Letter": "Lu",
    "Lowercase_Letter": "Ll",
    "Titlecase_Letter": "Lt",
    "Modifier_Letter": "Lm",
    "Other_Letter": "Lo",
    "Mark": "M",
    "Combining_Mark": "M",
    "Nonspacing_Mark": "Mn",
    "Spacing_Mark": "Mc",
    "Enclosing_Mark": "Me",
    "Number": "N",
    "Decimal_Number": "Nd",
    "digit": "Nd",
    "Letter_Number": "Nl",
    "Other_Number": "No",
    "Punctuation": "P",
    "punct": "P",
    "Connector_Punctuation": "Pc",
    "Dash_Punctuation": "Pd",
    "Open_Punctuation": "Ps",
    "Close_Punctuation": "Pe",
    "Initial_Punctuation": "Pi",
    "Final_Punctuation": "Pf",
    "Other_Punctuation": "Po",
    "Symbol": "S",
    "Math_Symbol": "Sm",
    "Currency_Symbol": "Sc",
    "Modifier_Symbol": "Sk",
    "Other_Symbol": "So",
    "Separator": "Z",
    "Space_Separator": "Zs",
    "Line_Separator": "Zl",
    "Paragraph_Separator": "Zp",
    "Other": "C",
    "Control": "Cc",
    "cntrl": "Cc",
    "Format": "Cf",
    "Surrogate": "Cs",
    "Private_Use": "Co",
    "Unassigned": "Cn",
}
_SHORT: Final = frozenset(_CATEGORIES.values())


def category(name: str) -> CharSet | None:
    """The characters of a general category (`L`, `Uppercase_Letter`); None for what is no such name."""
    if name == "Any":
        return ANY
    if name == "ASCII":
        return charset([(0, 0x7F)])
    short = _CATEGORIES.get(name, name)
    return _category(short) if short in _SHORT else None


@lru_cache(maxsize=64)
def _category(short: str) -> CharSet:
    wanted = ("Lu", "Ll", "Lt") if short == "LC" else (short,)
    found: list[tuple[int, int]] = []
    for code in range(_LAST + 1):
        if unicodedata.category(chr(code)).startswith(wanted):
            if found and found[-1][1] == code - 1:
                found[-1] = (found[-1][0], code)
            else:
                found.append((code, code))
    return tuple(found)
