"""Reading a `Node` as the shape that a file promises; each raises `Fault` at the line that breaks the promise.

`where` names the place in words that need no translation: `slack.operations.post_message.effect`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from catalog.fold import fold
from catalog.nodes import Fault, Node, type_name


def wrong_type(node: Node, where: str, expected: str) -> Fault:
    return Fault(node.line, "type-wrong", where=where, expected=expected, got=type_name(node.value))


def mapping(node: Node, where: str) -> dict[str, Node]:
    if not isinstance(node.value, dict):
        raise wrong_type(node, where, "mapping")
    return node.value


def fields(node: Node, where: str, required: Sequence[str], optional: Sequence[str]) -> dict[str, Node]:
    """A closed mapping."""
    entries = mapping(node, where)
    for key in entries:
        if key not in required and key not in optional:
            line = (node.key_lines or {})[key]
            allowed = ", ".join(dict.fromkeys((*required, *optional)))
            raise Fault(line, "key-unknown", where=where, key=key, allowed=allowed)
    for key in required:
        if key not in entries:
            raise Fault(node.line, "key-missing", where=where, key=key)
    return entries


def sequence(node: Node, where: str) -> list[Node]:
    if not isinstance(node.value, list):
        raise wrong_type(node, where, "list")
    return node.value


def text(node: Node, where: str) -> str:
    if not isinstance(node.value, str):
        raise wrong_type(node, where, "string")
    return node.value


def filled_text(node: Node, where: str) -> str:
    value = text(node, where)
    if not value.strip():
        raise Fault(node.line, "name-empty", where=where)
    return value


def words(node: Node, where: str) -> list[str]:
    """A list of non-empty strings, each once."""
    found: dict[str, None] = {}
    for index, entry in enumerate(sequence(node, where)):
        word = filled_text(entry, f"{where}[{index}]")
        if word in found:
            raise Fault(entry.line, "word-duplicate", where=where, word=word)
        found[word] = None
    return list(found)


def choice(node: Node, where: str, allowed: Sequence[str]) -> str:
    value = text(node, where)
    if value not in allowed:
        raise Fault(node.line, "value-wrong", where=where, value=value, expected=" | ".join(allowed))
    return value


class Names:
    """Names seen so far, compared folded (T2)."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._seen: dict[str, tuple[str, int]] = {}

    def add(self, name: str, line: int) -> None:
        other = self._seen.setdefault(fold(name), (name, line))
        if other != (name, line):
            raise Fault(line, "name-duplicate", where=self._where, name=name, other=other[0], first=other[1])


def among(names: Iterable[str]) -> str:
    """A list for a message, shortened: a schema may have a hundred arguments."""
    listed = list(names)
    return ", ".join(listed[:12]) + (", …" if len(listed) > 12 else "") if listed else "—"
