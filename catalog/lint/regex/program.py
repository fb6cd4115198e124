"""Matching as Thompson and Pike have it: all alternatives at once, so the time is the product of the two lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from catalog.lint.regex import charset
from catalog.lint.regex.charset import CharSet
from catalog.lint.regex.syntax import Anchor, Back, Chars, Choice, Look, Part, Repeat, Sequence

MAX_STEPS: Final = 4_000
"""Instructions of a program: counted repetitions are written out."""


MAX_WORK: Final = 200_000
"""Steps of one search."""


class Unknown(Exception):
    """The expression looks around, refers back, names a set that we do not know, or is too long written out."""


@dataclass(frozen=True, slots=True)
class _Take:
    chars: CharSet


@dataclass(frozen=True, slots=True)
class _Split:
    targets: tuple[int, ...]


_Step: TypeAlias = "_Take | _Split | Anchor | None"  # None: matched


class Program:
    """Raises Unknown for what it cannot decide."""

    def __init__(self, part: Part) -> None:
        self._steps: list[_Step] = []
        self._compile(part)
        self._add(None)

    @property
    def size(self) -> int:
        """How many steps it has."""
        return len(self._steps)

    def search(self, text: str) -> tuple[bool | None, int]:
        """Whether it matches anywhere in `text` (None: not known after MAX_WORK), and the steps that this took."""
        active: list[int] = []
        spent = 0
        for at in range(len(text) + 1):
            matched, takes, steps = self._closure([0, *active], text, at)
            spent += steps
            if matched or spent > MAX_WORK:
                return matched or None, spent
            if at < len(text):
                code = ord(text[at])
                active = [step + 1 for step, chars in takes if charset.contains(chars, code)]
        return False, spent

    def _closure(self, starts: list[int], text: str, at: int) -> tuple[bool, list[tuple[int, CharSet]], int]:
        """What can be reached without a character: whether that is a match, the steps that take one, and how many
        steps were looked at."""
        seen: set[int] = set()
        takes: list[tuple[int, CharSet]] = []
        pending = starts[::-1]
        while pending:
            at_step = pending.pop()
            if at_step in seen:
                continue
            seen.add(at_step)
            step = self._steps[at_step]
            match step:
                case None:
                    return True, takes, len(seen)
                case _Take(chars):
                    takes.append((at_step, chars))
                case _Split(targets):
                    pending += targets
                case Anchor() if _holds(step, text, at):
                    pending.append(at_step + 1)
                case _:
                    pass
        return False, takes, len(seen)

    def _add(self, step: _Step) -> int:
        if len(self._steps) >= MAX_STEPS:
            raise Unknown
        self._steps.append(step)
        return len(self._steps) - 1

    def _compile(self, part: Part) -> None:
        """The steps of `part`, behind those that there are; they end by running into the next one."""
        match part:
            case Look() | Back():
                raise Unknown
            case Chars(chars):
                if chars is None:
                    raise Unknown
                self._add(_Take(chars))
            case Anchor():
                self._add(part)
            case Sequence(parts):
                for each in parts:
                    self._compile(each)
            case Choice(parts):
                split = self._add(_Split(()))
                starts: list[int] = []
                exits: list[int] = []
                for each in parts:
                    starts.append(len(self._steps))
                    self._compile(each)
                    exits.append(self._add(_Split(())))
                self._steps[split] = _Split(tuple(starts))
                for exit_step in exits:
                    self._steps[exit_step] = _Split((len(self._steps),))
            case Repeat(inner, least, most):
                self._repeat(inner, least, most)

    def _repeat(self, inner: Part, least: int, most: int | None) -> None:
        for _ in range(least):
            self._compile(inner)
        if most is None:
            loop = self._add(_Split(()))
            self._compile(inner)
            self._add(_Split((loop,)))
            self._steps[loop] = _Split((loop + 1, len(self._steps)))
            return
        splits: list[int] = []
        for _ in range(most - least):
            splits.append(self._add(_Split(())))
            self._compile(inner)
        for split in splits:
            self._steps[split] = _Split((split + 1, len(self._steps)))


def _holds(anchor: Anchor, text: str, at: int) -> bool:
    match anchor.kind:
        case "start":
            return at == 0
        case "end":
            return at == len(text)
        case _:
            before = at > 0 and charset.contains(charset.WORD, ord(text[at - 1]))
            after = at < len(text) and charset.contains(charset.WORD, ord(text[at]))
            return (before != after) == (anchor.kind == "boundary")
