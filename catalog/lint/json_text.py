"""The grammar of JSON (RFC 8259) over a text, without recursion and without building anything.

It answers what must be known before a text is given to a parser that recurses and allocates: whether it is JSON at
all, how deep it goes, how many values it holds, which members stand twice. The same walk finds lines afterwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from catalog.lint.pointer import Pointer

MAX_DUPLICATES = 100

# Possessive throughout: nothing here is ever tried twice, and no stack of alternatives grows.
_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:"
    r"([{}\[\],:])"
    r'|("[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?:true|false|null|-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+))"
)
_BLANK = re.compile(r"[ \t\n\r]*+")

Kind = Literal["object", "array", "scalar", "key", "end"]


class NotJson(Exception):
    """`offset`: where the text stops being JSON, in characters."""

    def __init__(self, offset: int) -> None:
        super().__init__(offset)
        self.offset = offset


@dataclass(slots=True)
class Survey:
    """`depth`: of nested containers, 0 for a scalar. `deepest`: the first container below the greatest allowed depth.
    `values`: all of them. `duplicates`: of members that stand twice, the later ones, at most MAX_DUPLICATES."""

    depth: int = 0
    values: int = 0
    deepest: Pointer = ()
    duplicates: list[Pointer] = field(default_factory=list)


def survey(text: str, *, max_depth: int, max_values: int) -> Survey:
    """Ends early with more than `max_values`; what follows is not looked at. Names are not compared below `max_depth`.

    Raises NotJson.
    """
    found = Survey()
    path: list[str | int] = []  # where the value that comes next stands
    names: list[set[str] | None] = []  # None: of an array, or too deep
    for kind, _, token in _events(text):
        if kind == "key":
            name = _name(token)
            path[-1] = name
            seen = names[-1]
            if seen is not None:
                if name in seen and len(found.duplicates) < MAX_DUPLICATES:
                    found.duplicates.append(tuple(path))
                seen.add(name)
            continue
        if kind == "end":
            path.pop()
            names.pop()
            continue
        found.values += 1
        if found.values > max_values:
            break
        if path:
            step = path[-1]
            if isinstance(step, int):
                path[-1] = step + 1
        if kind == "scalar":
            continue
        if len(path) >= found.depth:
            found.depth = len(path) + 1
            if found.depth == max_depth + 1:
                found.deepest = tuple(path)
        names.append(set() if kind == "object" and len(path) < max_depth else None)
        path.append("" if kind == "object" else -1)
    return found


def lines(text: str, wanted: Iterable[Pointer]) -> dict[Pointer, int]:
    """The 1-based lines on which values begin; of members that stand twice, the last one's. `text` must be JSON."""
    root: _Wanted = _Wanted()
    for pointer in wanted:
        entry = root
        for step in pointer:
            entry = entry.below.setdefault(step, _Wanted())
        entry.pointer = pointer
    found: dict[Pointer, int] = {}
    open_entries: list[_Wanted | None] = []
    steps: list[str | int] = []
    line, counted = 1, 0
    for kind, offset, token in _events(text):
        if kind == "key":
            steps[-1] = _name(token)
            continue
        if kind == "end":
            open_entries.pop()
            steps.pop()
            continue
        entry_here: _Wanted | None
        if not steps:
            entry_here = root
        else:
            step = steps[-1]
            if isinstance(step, int):
                steps[-1] = step + 1
            parent = open_entries[-1]
            entry_here = None if parent is None else parent.below.get(steps[-1])
        if entry_here is not None and entry_here.pointer is not None:
            line += text.count("\n", counted, offset)
            counted = offset
            found[entry_here.pointer] = line
        if kind != "scalar":
            open_entries.append(entry_here)
            steps.append("" if kind == "object" else -1)
    return found


class _Wanted:
    """A node of the tree of pointers that are looked for."""

    __slots__ = ("below", "pointer")

    def __init__(self) -> None:
        self.below: dict[str | int, _Wanted] = {}
        self.pointer: Pointer | None = None


def _name(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    name: str = json.loads(token)
    return name


def _events(text: str) -> Iterator[tuple[Kind, int, str]]:
    """What stands in the text, in order: (kind, offset, token). Raises NotJson."""
    match_token = _TOKEN.match
    closers: list[str] = []
    position = 0
    state = "value"  # value | value-or-end | key | key-or-end | colon | more | done
    while state != "done":
        match = match_token(text, position)
        if match is None:
            raise NotJson(_after_blanks(text, position))
        mark, string = match.group(1), match.group(2)
        start = match.start(1) if mark else match.start(2) if string else _after_blanks(text, position)
        position = match.end()
        if mark is None:
            if state in {"key", "key-or-end"}:
                if string is None:
                    raise NotJson(start)
                yield "key", start, string
                state = "colon"
            elif state in {"value", "value-or-end"}:
                yield "scalar", start, ""
                state = "more" if closers else "done"
            else:
                raise NotJson(start)
        elif mark in "{[":
            if state not in {"value", "value-or-end"}:
                raise NotJson(start)
            closers.append("}" if mark == "{" else "]")
            yield ("object" if mark == "{" else "array"), start, mark
            state = "key-or-end" if mark == "{" else "value-or-end"
        elif mark in "}]":
            if state not in ("more", "key-or-end", "value-or-end") or closers.pop() != mark:
                raise NotJson(start)
            yield "end", start, mark
            state = "more" if closers else "done"
        elif mark == ":" and state == "colon":
            state = "value"
        elif mark == "," and state == "more":
            state = "key" if closers[-1] == "}" else "value"
        else:
            raise NotJson(start)
    if _after_blanks(text, position) != len(text):
        raise NotJson(_after_blanks(text, position))


def _after_blanks(text: str, position: int) -> int:
    match = _BLANK.match(text, position)
    return position if match is None else match.end()
