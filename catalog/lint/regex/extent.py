"""How long what an expression matches can be."""

from __future__ import annotations

from catalog.lint.regex.syntax import Anchor, Back, Chars, Choice, Look, Part, Repeat, Sequence


def longest(part: Part) -> int | None:
    """Characters of the longest string that the whole of which can match; None: without end, or unanchored."""
    if not (_anchored(part, "start") and _anchored(part, "end")):
        return None
    return _length(part)


def _length(part: Part) -> int | None:
    match part:
        case Chars():
            return 1
        case Anchor() | Look():
            return 0
        case Back():
            return None
        case Sequence(parts):
            lengths = [_length(each) for each in parts]
            return None if None in lengths else sum(length or 0 for length in lengths)
        case Choice(parts):
            lengths = [_length(each) for each in parts]
            return None if None in lengths else max(length or 0 for length in lengths)
        case Repeat(inner, _, most):
            length = _length(inner)
            return 0 if length == 0 else None if length is None or most is None else length * most


def _anchored(part: Part, kind: str) -> bool:
    """Whether every match begins (ends) where the text does."""
    match part:
        case Anchor():
            return part.kind == kind
        case Choice(parts):
            return all(_anchored(each, kind) for each in parts)
        case Sequence(parts) if parts:
            return _anchored(parts[0 if kind == "start" else -1], kind)
        case Repeat(inner, least, _):
            return least > 0 and _anchored(inner, kind)
        case _:
            return False
