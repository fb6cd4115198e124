"""Regular expressions of schemas: read as ECMA-262 has them, searched with an end."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import regex

LONGEST: Final = 4_000
MOST_WRITTEN_OUT: Final = 100_000
LONGEST_SEARCH_S: Final = 0.5


def occurs(pattern: str, text: str, seconds: float) -> bool | None:
    """None: the pattern is of another dialect, or too large. Raises TimeoutError after `seconds`."""
    compiled = _compiled(pattern)
    return None if compiled is None else compiled.search(text, timeout=seconds) is not None


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> regex.Pattern[str] | None:
    if len(pattern) > LONGEST or _written_out(pattern) > MOST_WRITTEN_OUT:
        return None
    try:
        return regex.compile(_translated(pattern))
    except (regex.error, OverflowError, RecursionError, ValueError):
        return None


_SHORTHAND: Final = {"d": "0-9", "w": "A-Za-z0-9_"}
_PART: Final = re.compile(r"\\.|[\[\]$]|[^\\\[\]$]+", re.DOTALL)


def _translated(pattern: str) -> str:
    """ECMA-262 says `$` for the very end, and `\\d` and `\\w` for ASCII only."""
    parts: list[str] = []
    inside = False
    for part in _PART.findall(pattern):
        if part.startswith("\\") and part[1:] in _SHORTHAND:
            parts.append(_SHORTHAND[part[1:]] if inside else f"[{_SHORTHAND[part[1:]]}]")
            continue
        if inside:
            # ECMA-262 has no sets within sets.
            parts.append(r"\[" if part == "[" else part)
            inside = part != "]"
        else:
            parts.append(r"\Z" if part == "$" else part)
            inside = part == "["
    return "".join(parts)


_ATOM: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\{([0-9]+)(?:,([0-9]*))?\}|[()]|.", re.DOTALL)


def _written_out(pattern: str) -> int:
    """How long it becomes when its counted repetitions are written out, as the library does in memory."""
    sums, last = [0], 0
    for atom in _ATOM.finditer(pattern):
        if atom[0] == "(":
            sums.append(0)
            last = 0
        elif atom[0] == ")" and len(sums) > 1:
            last = sums.pop() + 1
            sums[-1] += last
        elif atom[1] is not None:
            times = int((atom[2] or atom[1])[:9])
            sums[-1] += last * max(times - 1, 0)
            last *= max(times, 1)
        else:
            last = 1
            sums[-1] += 1
    return sum(sums)
