"""JSON (RFC 8259) with lines: every value knows where it stands, keys are unique, depth is bounded."""

from __future__ import annotations

import json
import math
import re

from catalog.nodes import MAX_DIGITS, Builder, Fault, Node

_BLANK = re.compile(r"[ \t\n\r]*")
_STRING = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORD = re.compile(r"true|false|null")
_CONSTANTS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def read_json(text: str) -> Node:
    """The one value of `text`. Raises `Fault`."""
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._builder = Builder()

    def read(self) -> Node:
        """One value a turn; what may follow it is decided by the container that it stands in."""
        builder = self._builder
        self._value()
        while (container := builder.container) is not None:
            close = "}" if isinstance(container.value, dict) else "]"
            self._blank()
            if self._peek() == close:
                self._at += 1
                builder.close()
                continue
            if container.value:
                self._expect(",")
            self._blank()
            if isinstance(container.value, dict):
                line = self._line
                if self._peek() != '"':
                    raise self._fault(
                        "a key in double quotes" if not container.value else "another key after the comma"
                    )
                builder.key(self._string(), line)
                self._blank()
                self._expect(":")
            self._value()
        self._blank()
        if self._at != len(self._text):
            raise self._fault("the end of the file")
        if builder.root is None:  # _value has added or raised
            raise self._fault("a value")
        return builder.root

    def _value(self) -> None:
        self._blank()
        char, line = self._peek(), self._line
        if char == "{":
            self._at += 1
            self._builder.open(Node(line, {}))
        elif char == "[":
            self._at += 1
            self._builder.open(Node(line, []))
        elif char == '"':
            self._builder.add(Node(line, self._string()))
        elif word := _WORD.match(self._text, self._at):
            self._at = word.end()
            self._builder.add(Node(line, _CONSTANTS[word.group()]))
        elif number := _NUMBER.match(self._text, self._at):
            self._builder.add(Node(line, self._number(number)))
        else:
            raise self._fault("a value")

    def _number(self, match: re.Match[str]) -> int | float:
        digits = match.group()
        if len(digits) > MAX_DIGITS:
            raise self._fault("a shorter number")
        value = int(digits) if match.group(1) is None and match.group(2) is None else float(digits)
        if isinstance(value, float) and math.isinf(value):
            raise self._fault("a smaller number")
        self._at = match.end()
        return value

    def _string(self) -> str:
        match = _STRING.match(self._text, self._at)
        if match is None:
            raise self._fault("a string that ends on its line")
        self._at = match.end()
        text = match.group()
        value: str = json.loads(text) if "\\" in text else text[1:-1]
        if "\\u" in text and any("\ud800" <= char <= "\udfff" for char in value):
            raise self._fault("a string of whole characters")
        return value

    def _blank(self) -> None:
        match = _BLANK.match(self._text, self._at)
        if match is not None and match.end() > self._at:
            self._line += self._text.count("\n", self._at, match.end())
            self._at = match.end()

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _expect(self, char: str) -> None:
        if self._peek() != char:
            raise self._fault(f'"{char}"')
        self._at += 1

    def _fault(self, expected: str) -> Fault:
        got = self._peek()
        found = f"found {got!r}" if got else "the file ends"
        return Fault(self._line, "json-syntax", detail=f"expected {expected}, {found}")
