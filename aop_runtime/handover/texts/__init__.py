"""What hand-overs say to models: templates in text files beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from aop_runtime.declarations import Handover
from aop_runtime.handover.substitution import argument_names

_MOST_NAMES = 20


@cache
def _template(name: str) -> Template:
    path = Path(__file__).with_name(f"{name}.txt")
    return Template(path.read_text(encoding="utf-8").removesuffix("\n"))


def description(grant: Handover, operations: tuple[str, ...]) -> str:
    names = argument_names(grant.placeholders)
    values = (
        f"Pass the values as they are to be put in: {', '.join(f'{name} for {mark}' for name, mark in names.items())}."
        if names
        else "It takes no arguments."
    )
    shown = ", ".join(operations[:_MOST_NAMES]) + (", …" if len(operations) > _MOST_NAMES else "")
    return _template(grant.mode).substitute(tool=grant.tool, operations=shown, values=values)
