"""Reading a regular expression as ECMA-262 has it, with the `u` flag. What only its Annex B allows (`\\-`, a lone `]`,
`[\\w-.]`) is read as well, because browsers and servers do."""

from __future__ import annotations

import re
from typing import Final

from catalog.lint.regex import charset
from catalog.lint.regex.charset import CharSet
from catalog.lint.regex.syntax import EMPTY, Anchor, Back, Chars, Choice, Look, Part, Repeat, Sequence

MAX_LENGTH: Final = 4_000
MAX_GROUP_DEPTH: Final = 40

_COUNT: Final = re.compile(r"\{([0-9]{1,9})(?:(,)([0-9]{0,9}))?\}")
_GROUP: Final = re.compile(r"\?(?:(:)|(=|!|<=|<!)|<([^\W\d][\w$]{0,99})>)")
_OPENING: Final = re.compile(r"\\.|\((?!\?)|\(\?<[^=!]", re.DOTALL)
_NUMBER: Final = re.compile(r"[0-9]{1,4}")
_NAME: Final = re.compile(r"k<[^\W\d][\w$]{0,99}>")
_HEX: Final = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")
_PROPERTY: Final = re.compile(r"\{([A-Za-z0-9_]{1,60})(?:=([A-Za-z0-9_]{1,60}))?\}")
_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_CLASSES: Final = {"d": charset.DIGIT, "w": charset.WORD, "s": charset.SPACE}


class NotARegex(Exception):
    """`offset`: where it stops being one."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


class TooComplex(Exception):
    """Longer or nested deeper than we look at."""


def parse(pattern: str) -> Part:
    """Raises NotARegex, TooComplex."""
    if len(pattern) > MAX_LENGTH:
        raise TooComplex
    reader = _Reader(pattern)
    part = reader.choice(0)
    if not reader.ended:
        raise NotARegex(reader.at)
    return part


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0
        # Known before they are read: a number may refer to a group that comes later.
        self._groups = sum(found[0] == "(" for found in _OPENING.findall(text))

    @property
    def ended(self) -> bool:
        return self.at >= len(self._text)

    def _peek(self) -> str:
        return self._text[self.at : self.at + 1]

    def _take(self, expected: str) -> bool:
        if not self._text.startswith(expected, self.at):
            return False
        self.at += len(expected)
        return True

    def _match(self, expression: re.Pattern[str]) -> re.Match[str] | None:
        match = expression.match(self._text, self.at)
        if match is not None:
            self.at = match.end()
        return match

    def choice(self, depth: int) -> Part:
        if depth > MAX_GROUP_DEPTH:
            raise TooComplex
        parts = [self._sequence(depth)]
        while self._take("|"):
            parts.append(self._sequence(depth))
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def _sequence(self, depth: int) -> Part:
        parts: list[Part] = []
        while not self.ended and self._peek() not in "|)":
            start = self.at
            part = self._atom(depth)
            least, most = self._quantifier()
            if (least, most) != (1, 1):
                if isinstance(part, Anchor):
                    raise NotARegex(start)
                part = Repeat(part, least, most)
            parts.append(part)
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts)) if parts else EMPTY

    def _quantifier(self) -> tuple[int, int | None]:
        least: int
        most: int | None
        if self._take("*"):
            least, most = 0, None
        elif self._take("+"):
            least, most = 1, None
        elif self._take("?"):
            least, most = 0, 1
        else:
            start = self.at
            match = self._match(_COUNT)
            if match is None:
                return 1, 1
            least = int(match[1])
            most = least if match[2] is None else int(match[3]) if match[3] else None
            if most is not None and most < least:
                raise NotARegex(start)
            if (least, most) == (1, 1):
                self._take("?")
                return 1, 1
        self._take("?")  # matches less first, but matches the same
        return least, most

    def _atom(self, depth: int) -> Part:
        start, character = self.at, self._peek()
        self.at += 1
        match character:
            case "^":
                return Anchor("start")
            case "$":
                return Anchor("end")
            case ".":
                return Chars(charset.inverted(charset.LINE_END))
            case "[":
                return Chars(self._class())
            case "(":
                return self._group(depth)
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise NotARegex(start)
            case "{" if _COUNT.match(self._text, start):
                raise NotARegex(start)
            case _:
                return Chars(charset.single(ord(character)))

    def _group(self, depth: int) -> Part:
        start = self.at
        if self._peek() == "?":
            match = self._match(_GROUP)
            if match is None:
                raise NotARegex(start)
            inner = self.choice(depth + 1)
            part: Part = Look(inner) if match[2] else inner
        else:
            part = self.choice(depth + 1)
        if not self._take(")"):
            raise NotARegex(self.at)
        return Sequence((part,)) if isinstance(part, Anchor) else part  # `(?:^)*` may repeat, `^*` may not

    def _escape(self) -> Part:
        start, character = self.at, self._peek()
        if character in ("b", "B"):
            self.at += 1
            return Anchor("boundary" if character == "b" else "inside")
        if character.isdecimal() and character.isascii() and character != "0":
            match = self._match(_NUMBER)
            if match is None or int(match[0]) > self._groups:
                raise NotARegex(start)
            return Back()
        if self._match(_NAME):
            return Back()
        return Chars(self._character_set())

    def _class(self) -> CharSet | None:
        """Behind the opening bracket."""
        negated = self._take("^")
        ranges: list[tuple[int, int]] = []
        known = True
        while not self._take("]"):
            if self.ended:
                raise NotARegex(self.at)
            start = self.at
            low = self._class_atom()
            if self._peek() == "-" and self._text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                high = self._class_atom()
                if low is None or high is None:
                    known = False
                elif not _is_single(low) or not _is_single(high):
                    ranges += (*low, *charset.single(ord("-")), *high)
                elif low[0][0] > high[0][0]:
                    raise NotARegex(start)
                else:
                    ranges.append((low[0][0], high[0][0]))
            elif low is None:
                known = False
            else:
                ranges += low
        if not known:
            return None
        chars = charset.charset(ranges)
        return charset.inverted(chars) if negated else chars

    def _class_atom(self) -> CharSet | None:
        character = self._peek()
        if not character:
            raise NotARegex(self.at)
        self.at += 1
        if character != "\\":
            return charset.single(ord(character))
        if self._take("b"):
            return charset.single(8)
        return self._character_set()

    def _character_set(self) -> CharSet | None:
        """Behind a backslash: what stands for characters, in and out of brackets."""
        start, character = self.at, self._peek()
        if hexadecimal := self._match(_HEX):
            return charset.single(self._code(hexadecimal))
        self.at += 1
        if character.lower() in _CLASSES:
            chars = _CLASSES[character.lower()]
            return charset.inverted(chars) if character.isupper() else chars
        if character in _CONTROLS:
            return charset.single(_CONTROLS[character])
        if character in ("p", "P"):
            return self._property(negated=character == "P")
        if character == "c":
            letter = self._peek()
            if not (letter.isascii() and letter.isalpha()):
                raise NotARegex(start)
            self.at += 1
            return charset.single(ord(letter) % 32)
        if character == "0" and not self._peek().isdecimal():
            return charset.single(0)
        if not character or (character.isascii() and character.isalnum()):
            raise NotARegex(start)
        return charset.single(ord(character))

    def _code(self, match: re.Match[str]) -> int:
        code = int(match[1] or match[2] or match[3], 16)
        if code > 0x10FFFF:
            raise NotARegex(match.start())
        if 0xD800 <= code <= 0xDBFF and self._text.startswith("\\", self.at):
            at = self.at
            self.at += 1
            low = self._match(_HEX)
            if low is not None and low[2] and 0xDC00 <= int(low[2], 16) <= 0xDFFF:
                return 0x10000 + ((code - 0xD800) << 10) + (int(low[2], 16) - 0xDC00)
            self.at = at
        return code

    def _property(self, *, negated: bool) -> CharSet | None:
        match = self._match(_PROPERTY)
        if match is None:
            raise NotARegex(self.at)
        named = match[2] is None or match[1] in ("General_Category", "gc")
        chars = charset.category(match[2] or match[1]) if named else None
        return charset.inverted(chars) if negated and chars is not None else chars


def _is_single(chars: CharSet) -> bool:
    return len(chars) == 1 and chars[0][0] == chars[0][1]
