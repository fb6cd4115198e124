"""What the model calls a tool: names that every provider takes, each once in a phase, the same in every run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

from aop_runtime.plane.spec import Tool

LONGEST: Final = 64
_FIT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""Some providers refuse a name that begins with a digit."""

_UNFIT: Final = re.compile(r"[^A-Za-z0-9_-]+")


def named(tools: Sequence[Tool], taken: Sequence[str] = ()) -> tuple[Tool, ...]:
    """The tools with names that are fit and unique, also beside `taken`. A name that is so already stays as it is; the
    instructions speak of operations by it."""
    asked = Counter([*taken, *(tool.spec.name for tool in tools)])
    used = {name for name, times in asked.items() if times == 1 and _FIT.fullmatch(name)} | set(taken)
    result: list[Tool] = []
    for tool in tools:
        name = tool.spec.name
        if asked[name] > 1 or _FIT.fullmatch(name) is None:
            name = _composed(tool, used)
            used.add(name)
        result.append(tool if name == tool.spec.name else replace(tool, spec=replace(tool.spec, name=name)))
    return tuple(result)


def _composed(tool: Tool, used: set[str]) -> str:
    """`tool__operation`; with a digest where letters had to go, so that two names never become one."""
    spec = tool.spec
    plain = f"{spec.tool}__{spec.operation}"
    name = _UNFIT.sub("_", plain).strip("_-")
    if not name[:1].isalpha():
        name = f"tool_{name}"
    if name == plain and len(name) <= LONGEST and name not in used:
        return name
    head = name[: LONGEST - 9].rstrip("_-")
    identity = f"{spec.tool}\0{spec.operation}\0{spec.name}\0{bool(tool.inner)}"
    for count in range(len(used) + 1):
        # A server can call an operation what another one of its own will be called.
        told = identity if count == 0 else f"{identity}\0{count}"
        name = f"{head}_{sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
        if name not in used:
            return name
    raise AssertionError("unreachable: there are more names than tools")
