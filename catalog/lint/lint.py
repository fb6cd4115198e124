"""Linting: from a value or bytes to a report. Reads nothing but its arguments, and raises for no value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from catalog.lint.forms import tools_in
from catalog.lint.limits import MAX_DEPTH, MAX_VALUES
from catalog.lint.pointer import Pointer
from catalog.lint.reading import TOO_DEEP, TOO_LARGE, Input, read
from catalog.lint.registry import CHECKS, CHECKS_OF_ALL
from catalog.lint.report import Collected, Report
from catalog.lint.rule import Finding
from catalog.lint.tools import Budgets
from catalog.nodes import Json


def lint(value: Json) -> Report:
    """Of a JSON value: one tool, a list, a `tools/list` result, a catalog."""
    fault = _beyond_limits(value)
    found = Collected()
    if fault is not None:
        found.add([fault])
    else:
        _collect(_copied(value), found)
    return found.report()


def lint_bytes(content: bytes, name: str) -> tuple[Report, Input]:
    """Of a file's content. Raises CatalogError where it cannot be read as JSON (or as a catalog in YAML)."""
    given = read(content, name)
    found = Collected()
    found.add(given.findings)
    if given.complete:
        _collect(given.value, found)
    return found.report(), given


def _collect(value: Json, found: Collected) -> None:
    tools, strangers = tools_in(value, Budgets())
    found.add(strangers)
    for check_all in CHECKS_OF_ALL:
        found.add(check_all(tools))
    for tool in tools:
        for check in CHECKS:
            found.add(check(tool))
    found.order = {tool.path: index for index, tool in enumerate(tools)}


def _copied(value: Json) -> Json:
    """Every part its own: a program may use one object in several places, and each place is a schema of its own."""
    if isinstance(value, dict):
        return {name: _copied(entry) for name, entry in value.items()}
    return [_copied(entry) for entry in value] if isinstance(value, list) else value


def _beyond_limits(value: Json) -> Finding | None:
    """Values that come from a program may be larger and deeper than any text that we read, or hold themselves."""
    count = 0
    open_containers: list[tuple[Pointer, Iterator[tuple[str | int, Json]]]] = [((), iter([(0, value)]))]
    while open_containers:
        path, rest = open_containers[-1]
        following = next(rest, None)
        if following is None:
            open_containers.pop()
            continue
        count += 1
        if count > MAX_VALUES:
            return Finding(TOO_LARGE, (), {"limit": MAX_VALUES, "unit": "values", "unit_ja": "個の値"})
        step, entry = following
        place = (*path, step) if len(open_containers) > 1 else ()
        members = _members(entry)
        if members is not None:
            if len(open_containers) > MAX_DEPTH:
                return Finding(TOO_DEEP, place, {"limit": MAX_DEPTH})
            open_containers.append((place, iter(members)))
    return None


def _members(value: Json) -> Iterable[tuple[str | int, Json]] | None:
    if isinstance(value, dict):
        return value.items()
    return enumerate(value) if isinstance(value, list) else None
