"""Which `*` and `_` are emphasis marks (CommonMark 0.31, 6.2 and its appendix's process-emphasis)."""

from __future__ import annotations

import re
import unicodedata

_RUN = re.compile(r"\*+|_+")


class _Delimiter:
    def __init__(self, start: int, end: int, mark: str, opens: bool, closes: bool) -> None:
        self.start = start
        self.end = end
        self.mark = mark
        self.length = end - start
        self.opens = opens
        self.closes = closes


def _is_space(char: str) -> bool:
    return not char or char in "\t\n\f\r" or unicodedata.category(char) == "Zs"


def _is_punctuation(char: str) -> bool:
    return bool(char) and unicodedata.category(char)[0] in "PS"


class Delimiters:
    """The delimiter stack of one text. `add` runs in order; `close` at each link's end; `finish` gives what is used."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stack: list[_Delimiter] = []
        self._used: list[tuple[int, int]] = []

    def mark(self) -> int:
        return len(self._stack)

    def add(self, at: int) -> int:
        """Take the run of marks at `at`; returns its end."""
        match = _RUN.match(self._text, at)
        end = match.end() if match else at + 1
        before, after = self._text[at - 1 : at] if at else "", self._text[end : end + 1]
        left = not _is_space(after) and (not _is_punctuation(after) or _is_space(before) or _is_punctuation(before))
        right = not _is_space(before) and (not _is_punctuation(before) or _is_space(after) or _is_punctuation(after))
        mark = self._text[at]
        if mark == "_":
            opens = left and (not right or _is_punctuation(before))
            closes = right and (not left or _is_punctuation(after))
        else:
            opens, closes = left, right
        if opens or closes:
            self._stack.append(_Delimiter(at, end, mark, opens, closes))
        return end

    def close(self, mark: int) -> None:
        """A link ends: what stands inside it is paired among itself and then gone."""
        self._pair(mark)
        del self._stack[mark:]

    def finish(self) -> list[tuple[int, int]]:
        """The spans of all marks that are emphasis, sorted."""
        self._pair(0)
        self._stack.clear()
        return sorted(self._used)

    def _pair(self, bottom: int) -> None:
        openers: list[_Delimiter] = []
        floor: dict[tuple[str, bool, int], int] = {}
        for current in self._stack[bottom:]:
            while current.closes and current.end > current.start:
                key = (current.mark, current.opens, current.length % 3)
                lowest = floor.get(key, 0)
                index = len(openers) - 1
                while index >= lowest and not self._match(openers[index], current):
                    index -= 1
                if index < lowest:
                    floor[key] = len(openers)
                    break
                opener = openers[index]
                del openers[index + 1 :]
                for known, lowest in floor.items():
                    floor[known] = min(lowest, index + 1)
                width = 2 if opener.end - opener.start >= 2 and current.end - current.start >= 2 else 1
                self._used.append((opener.end - width, opener.end))
                self._used.append((current.start, current.start + width))
                opener.end -= width
                current.start += width
                if opener.end == opener.start:
                    openers.pop()
            if current.opens and current.end > current.start:
                openers.append(current)

    @staticmethod
    def _match(opener: _Delimiter, closer: _Delimiter) -> bool:
        if opener.mark != closer.mark:
            return False
        if (opener.closes or closer.opens) and (opener.length + closer.length) % 3 == 0:
            return opener.length % 3 == 0 and closer.length % 3 == 0
        return True
