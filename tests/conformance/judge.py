"""What a result lacks of what a case expects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_SETS = ("operations", "categories")
_ANY_ORDER = ("tools",)


def objections(expect: dict[str, Any], result: dict[str, Any]) -> list[str]:
    """A sentence for each difference; none if the result is as expected."""
    document = result["document"]
    found = {
        "status": result["status"],
        "kind": document["kind"],
        "name": document["name"],
        "diagnostics": result["diagnostics"],
        "phases": result["phases"],
    }
    return list(_differences(expect, found, ""))


def _differences(wanted: Any, found: Any, where: str) -> Iterator[str]:  # noqa: ANN401 - any JSON value
    if isinstance(wanted, dict) and isinstance(found, dict):
        for key, value in wanted.items():
            yield from _of_key(key, value, found, f"{where}.{key}".lstrip("."))
    elif isinstance(wanted, list) and isinstance(found, list) and len(wanted) == len(found):
        for index, (one, other) in enumerate(zip(wanted, found, strict=True)):
            yield from _differences(one, other, f"{where}[{index}]")
    elif wanted != found:
        yield f"{where}: expected {wanted!r}, found {found!r}"


def _of_key(key: str, value: Any, found: dict[str, Any], where: str) -> Iterator[str]:  # noqa: ANN401
    base, _, how = key.rpartition("_")
    if how in ("include", "exclude"):
        holder = found.get(base) or ()
        wrong = [entry for entry in value if (entry in holder) != (how == "include")]
        if wrong:
            yield f"{where}: {wrong!r} in {holder!r}"
    elif key in _SETS and isinstance(value, list) and isinstance(found.get(key), list):
        if sorted(value) != sorted(found[key]):
            yield f"{where}: expected {value!r}, found {found[key]!r}"
    elif key in _ANY_ORDER and isinstance(found.get(key), list):
        yield from _matched(value, list(found[key]), where)
    else:
        yield from _differences(value, found.get(key), where)


def _matched(wanted: list[Any], rest: list[Any], where: str) -> Iterator[str]:
    if len(wanted) != len(rest):
        yield f"{where}: expected {wanted!r}, found {rest!r}"
        return
    for entry in wanted:
        fits = next((other for other in rest if not list(_differences(entry, other, where))), None)
        if fits is None:
            yield f"{where}: nothing fits {entry!r} in {rest!r}"
        else:
            rest.remove(fits)
