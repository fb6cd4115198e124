"""Secrets in the record of a run: sealed where it is written, put back where the run goes on, hidden where it is shown.

A run that goes on needs to the letter what the model wrote: the arguments of a call that waits for approval, a result
that the next phase is told. A secret in it is one that the environment holds as well (a server is given it), so its
place is enough for the record. What stands there tells whether the environment still holds the same one, and not which.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from aop_runtime.declarations import Json

HIDDEN: Final = "***"

_BEGIN: Final = "‹secret:"
_SEAL: Final = re.compile(rf"{_BEGIN}([0-9a-f]{{16}})›")
_FREE: Final = frozenset(
    {"arguments", "choices", "content", "details", "message", "message_ja", "result", "structured", "text", "warnings"}
)
"""Fields that hold what a model, a tool or a person wrote. The others are identifiers, and words of ours."""
_NESTED: Final = ("envelope", "error")


class Vault:
    """`forms`: of the secrets, all texts that stand for one. `salt`: another one for each run. `cost`: of a digest, by
    which a password that is easy to guess is not easy to find; about 10 ms."""

    def __init__(self, forms: Iterable[str] = (), salt: str = "", cost: int = 4096) -> None:
        # What looks like a seal and is none is sealed, too: a text that was copied from a record opens nothing.
        self.forms: Final = frozenset({_BEGIN, *forms})
        longest_first = sorted(self.forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first)))
        self._salt, self._cost = salt.encode(), cost
        self._digests: dict[str, str] = {}
        self._by_digest: dict[str, str] = {}

    def __repr__(self) -> str:
        return "Vault(...)"

    def joined(self, other: Vault) -> Vault:
        """With the secrets of both, and the seals of this one."""
        return Vault(self.forms | other.forms, self._salt.decode(), self._cost)

    def sealed(self, event: dict[str, Json]) -> dict[str, Json]:
        """An event as the record holds it; the same object where there is no secret in it."""
        return _in_event(event, lambda text: self._pattern.sub(lambda found: self._seal(found[0]), text))

    def opened(self, event: dict[str, Json]) -> tuple[dict[str, Json], bool]:
        """An event of the record as it was, and whether it is whole: where the environment does not hold a secret any
        more, `HIDDEN` stands."""
        lost: list[str] = []
        return _in_event(event, partial(_SEAL.sub, partial(self._open, lost=lost))), not lost

    def _seal(self, form: str) -> str:
        return f"{_BEGIN}{self._digest(form)}›"

    def _open(self, found: re.Match[str], *, lost: list[str]) -> str:
        if not self._by_digest:
            self._by_digest = {self._digest(form): form for form in self.forms}
        form = self._by_digest.get(found[1])
        if form is None:
            lost.append(found[1])
        return HIDDEN if form is None else form

    def _digest(self, form: str) -> str:
        if form not in self._digests:
            data = form.encode("utf-8", "surrogatepass")
            self._digests[form] = hashlib.scrypt(data, salt=self._salt, n=self._cost, r=8, p=1, dklen=8).hex()
        return self._digests[form]


def hidden(event: dict[str, Json]) -> dict[str, Json]:
    """An event of the record as anybody may see it; the same object where there is no secret in it."""
    return _in_event(event, partial(_SEAL.sub, HIDDEN))


def _in_event(event: dict[str, Json], change: Callable[[str], str]) -> dict[str, Json]:
    found = dict(event)
    for name, value in event.items():
        if name in _NESTED and isinstance(value, dict):
            found[name] = _in_event(value, change)
        elif name in _FREE:
            found[name] = _changed(value, change)
    return event if all(found[name] is value for name, value in event.items()) else found


def _changed(value: Json, change: Callable[[str], str]) -> Json:
    """The same object where nothing is changed."""
    if isinstance(value, str):
        after = change(value)
        return value if after == value else after
    if isinstance(value, list):
        entries = [_changed(entry, change) for entry in value]
        same = all(after is before for after, before in zip(entries, value, strict=True))
        return value if same else entries
    if isinstance(value, dict):
        pairs = [(change(name), _changed(entry, change)) for name, entry in value.items()]
        same = all(name == old and entry is value[old] for (name, entry), old in zip(pairs, value, strict=True))
        return value if same else dict(pairs)
    return value
