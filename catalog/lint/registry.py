"""All rules, and what looks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from catalog.lint import forms, reading, report
from catalog.lint.rule import Finding, Rule
from catalog.lint.rules import (
    authority,
    bounds,
    commands,
    credentials,
    declared,
    descriptions,
    distinct,
    effects,
    form,
    formats,
    limits,
    locations,
    modes,
    naming,
    openness,
    patterns,
    references,
    shape,
    units,
    untyped,
    values,
)
from catalog.lint.tools import Tool

_OF_A_TOOL: Final = (
    shape,
    form,
    declared,
    values,
    bounds,
    references,
    patterns,
    commands,
    authority,
    credentials,
    locations,
    openness,
    limits,
    effects,
    naming,
    descriptions,
    untyped,
    units,
    formats,
    modes,
)

CHECKS: Final[tuple[Callable[[Tool], Iterator[Finding]], ...]] = tuple(module.check for module in _OF_A_TOOL)
"""Each looks at one tool."""

CHECKS_OF_ALL: Final[tuple[Callable[[Sequence[Tool]], Iterator[Finding]], ...]] = (shape.check_all, distinct.check_all)
"""Each looks at the tools beside each other."""

RULES: Final[dict[str, Rule]] = {
    rule.id: rule
    for rule in sorted(
        (rule for module in (reading, report, forms, *_OF_A_TOOL, distinct) for rule in module.RULES),
        key=lambda rule: rule.id,
    )
}
"""By id, in its order."""
