"""The gate: may a call be made, must a person be asked, or not at all? Rules over tool and arguments decide.

    version: 1
    rules:
      - allow: slack.post_message
        when: {channel_id: "#incident-*"}
      - deny: "*.delete_*"

A pattern stands for a whole text, `*` for any part of it. Of the rules that fit, one yields to another that is more
specific, wherever they stand in the file: that fits a part of the calls that it fits, and no others. Of those that do
not yield the strictest decides, so a broad prohibition is lifted only by a rule within it. Without a rule that fits,
the tool's own contract decides.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from aop_runtime.declarations import Json
from aop_runtime.faults import Fault
from aop_runtime.messages import Message
from aop_runtime.plane.arguments import canonical
from aop_runtime.plane.spec import ToolSpec
from aop_runtime.yaml_file import read_yaml

Action = Literal["allow", "ask", "deny"]

_STRICTNESS: Final[dict[Action, int]] = {"allow": 0, "ask": 1, "deny": 2}
_MAX_FILE: Final = 256 * 1024

_Pattern = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class RulesFault(Fault):
    """A rules file is unreadable. The message names file, place and what to write."""


class Rule(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    allow: _Pattern | None = None
    ask: _Pattern | None = None
    deny: _Pattern | None = None
    when: dict[str, _Pattern] = Field(default_factory=dict, max_length=20)

    @model_validator(mode="after")
    def _one_action(self) -> Self:
        if sum(pattern is not None for pattern in (self.allow, self.ask, self.deny)) != 1:
            raise PydanticCustomError("one-action", "a rule has exactly one of allow, ask and deny")
        return self

    @property
    def action(self) -> Action:
        return "allow" if self.allow is not None else "ask" if self.ask is not None else "deny"

    @property
    def pattern(self) -> str:
        return self.allow or self.ask or self.deny or ""

    def within(self, other: Rule) -> bool:
        """Whether it is at least as specific: whatever its patterns fit, the other's patterns fit too."""
        return covers(other.pattern, self.pattern) and all(
            name in self.when and covers(pattern, self.when[name]) for name, pattern in other.when.items()
        )

    def fits(self, address: str, arguments: Mapping[str, Json]) -> bool:
        """Of several values (a list) an allowing rule must fit all, the others one: none slips through in a list."""
        if not matches(self.pattern, address):
            return False
        enough = all if self.action == "allow" else any
        return all(
            name in arguments and enough([matches(pattern, text) for text in _texts(arguments[name])])
            for name, pattern in self.when.items()
        )

    def __str__(self) -> str:
        when = f" when {canonical(dict(self.when))}" if self.when else ""
        return f"{self.action} {self.pattern}{when}"


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1]
    rules: tuple[Rule, ...] = Field(default=(), max_length=1000)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`reason`: the rule, or the part of the tool's contract that decided."""

    action: Action
    reason: str


@dataclass(frozen=True, slots=True)
class Rules:
    rules: tuple[Rule, ...] = ()

    def verdict(self, spec: ToolSpec, arguments: Mapping[str, Json]) -> Verdict:
        fitting = [rule for rule in self.rules if rule.fits(spec.address, arguments)]
        if fitting:
            best = _decisive(fitting)
            if spec.confirmation == "always" and best.action == "allow":
                return Verdict("ask", "the tool is always asked for")
            return Verdict(best.action, f"rule: {best}")
        if spec.confirmation == "always":
            return Verdict("ask", "the tool is always asked for")
        if spec.confirmation == "never" or spec.effect == "read":
            return Verdict("allow", "reads" if spec.effect == "read" else "the tool is never asked for")
        return Verdict("ask", "writes are asked for")


def _decisive(fitting: Sequence[Rule]) -> Rule:
    """The strictest of those that yield to no other. There is at least one."""
    for rule in sorted(fitting, key=lambda rule: -_STRICTNESS[rule.action]):
        if not any(other.within(rule) and not rule.within(other) for other in fitting):
            return rule
    raise AssertionError("unreachable: being more specific goes round in no circle")


def strictest(verdicts: Sequence[Verdict]) -> Verdict:
    """Of the rules of a procedure and of those that called it. There is at least one."""
    return max(verdicts, key=lambda verdict: _STRICTNESS[verdict.action])


def matches(pattern: str, text: str) -> bool:
    """In time that grows with the two lengths and no faster."""
    first, *rest = pattern.split("*")
    if not rest:
        return text == pattern
    *middle, last = rest
    if not text.startswith(first) or not text.endswith(last) or len(text) < len(first) + len(last):
        return False
    place, end = len(first), len(text) - len(last)
    for part in middle:
        found = text.find(part, place, end)
        if found < 0:
            return False
        place = found + len(part)
    return True


def covers(wide: str, narrow: str) -> bool:
    """Whether every text that `narrow` matches is matched by `wide`. A star stands for letters that no pattern names,
    so only a star can take its place."""
    return matches(wide, narrow)


def _texts(value: Json) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for entry in value for text in _texts(entry)] or [""]
    if isinstance(value, dict):
        return [canonical(value)]
    return [json.dumps(value)]


def read_rules(path: Path) -> Rules:
    """Raises RulesFault."""
    file, _ = read_yaml(path, _File, _MAX_FILE, Message("yaml.rules"), RulesFault)
    return Rules(file.rules)
