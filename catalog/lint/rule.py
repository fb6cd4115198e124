"""What a rule is and what it finds. A rule's id and name never change; its texts may."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from catalog.errors import Language
from catalog.lint.pointer import Pointer
from catalog.lint.shown import shown

Level = Literal["structural", "strict", "advice"]
"""`structural`: always an error. `strict`: an error with `--strict`, else a warning. `advice`: never an error."""


class Text(NamedTuple):
    """A template in both languages; its blanks are a finding's arguments."""

    ja: str
    en: str

    def filled(self, lang: Language, arguments: Mapping[str, str | int]) -> str:
        """User-written arguments are made safe to show and cut to a readable length."""
        template = self.ja if lang == "ja" else self.en
        return template.format_map(
            {name: shown(value) if isinstance(value, str) else value for name, value in arguments.items()}
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """`id`: TSL0xx is about the input as a whole, TSL1xx structural, TSL2xx about safety, TSL3xx about what a model can
    understand."""

    id: str
    name: str
    level: Level
    message: Text
    help: Text


@dataclass(frozen=True, slots=True)
class Finding:
    """`path`: from the root of the input. `arguments`: what fills the blanks of the rule's texts."""

    rule: Rule
    path: Pointer
    arguments: Mapping[str, str | int] = field(default_factory=dict)

    def message(self, lang: Language) -> str:
        return self.rule.message.filled(lang, self.arguments)

    def help(self, lang: Language) -> str:
        return self.rule.help.filled(lang, self.arguments)
