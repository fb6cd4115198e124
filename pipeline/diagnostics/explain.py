"""`aop explain`: the page about a code."""

from __future__ import annotations

import re

from rapidfuzz import process

from pipeline.diagnostics.codes import BY_CODE, CODES, Code
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.pages import page


class UnknownCode(LookupError):
    """`asked` is neither a code nor a name; `close` are the names most like it, best first."""

    def __init__(self, asked: str, close: tuple[str, ...]) -> None:
        super().__init__(f"{asked!r} is no diagnostic; close: {', '.join(close) or 'none'}")
        self.asked = asked
        self.close = close


def _close(asked: str) -> tuple[str, ...]:
    if re.fullmatch(r"(?:aop-?)?[0-9]*", asked):
        return ()  # of a number, those like it say nothing
    words = {name: name for name in CODES} | {code.casefold(): entry.name for code, entry in BY_CODE.items()}
    found = process.extract(asked[:100], list(words), limit=5, score_cutoff=60)
    return tuple(dict.fromkeys(words[word] for word, _, _ in found))


def find(code_or_name: str) -> Code:
    """The diagnostic meant by `AOP201`, `aop201`, `201` or `tool-unreadable`. Raises UnknownCode."""
    asked = code_or_name.strip().casefold()
    digits = re.fullmatch(r"(?:aop-?)?([0-9]{3})", asked)
    entry = BY_CODE.get(f"AOP{digits[1]}") if digits else CODES.get(asked.replace("_", "-"))
    if entry is None:
        raise UnknownCode(code_or_name, _close(asked))
    return entry


def explain(code_or_name: str, lang: Lang) -> str:
    """The page about a diagnostic, Markdown. Raises UnknownCode."""
    return page(find(code_or_name), lang)
