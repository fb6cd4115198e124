"""A finding put into words: its template, filled (O3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, assert_never

from pipeline.diagnostics.findings import Argument, Finding
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.messages.en import EN
from pipeline.diagnostics.messages.ja import JA
from pipeline.diagnostics.messages.language import Language, Template
from pipeline.diagnostics.visible import shortened

LANGUAGES: Final[Mapping[Lang, Language]] = {"ja": JA, "en": EN}

_MAX_TEXT: Final = 120
_MAX_DETAIL: Final = 400
_MAX_LISTED: Final = 10
_MAX_PATH: Final = 200
"""A cycle is printed whole (C1); only one that no person could follow is cut."""

_OF_LINE: Final = "{fence"
"""Only in this blank a message tells its line."""

_KEPT: Final = 1024

_REMARKS: Final = frozenset({("declaration-unclosed", "handover"), ("declaration-lookalike", "verb")})
"""Beside all `handover-…` and `placeholder-…`: what a remark that starts with この may have met by accident (V1)."""


class NoMessage(LookupError):
    """A finding is not in the registry, or lacks an argument of its message: a fault of the stage that made it."""


@dataclass(frozen=True, slots=True)
class _Blank:
    """An argument as `str.format` sees it; the format after the colon says how it is shown, quoted by default."""

    value: Argument
    language: Language

    def __format__(self, form: str) -> str:
        value = self.value
        if isinstance(value, int):
            return self.language.size.format(f"{value:,}") if form == "size" else str(value)
        if isinstance(value, tuple):
            return self._texts(value, form)
        if isinstance(value, str):
            return self._text(value, form)
        assert_never(value)

    def _quoted(self, text: str) -> str:
        opening, closing = self.language.quote
        return f"{opening}{shortened(text, _MAX_TEXT)}{closing}"

    def _text(self, text: str, form: str) -> str:
        match form:
            case "":
                return self._quoted(text)
            case "plain":
                return shortened(text, _MAX_DETAIL)
            case "language":
                return self.language.language.format(self._quoted(text)) if text else self.language.no_language
            case "operation":
                return self.language.operation.format(self._quoted(text)) if text else ""
            case "reason":
                return self._reason(text)
            case "change":
                return self.language.changes.get(text) or shortened(text, _MAX_TEXT)
        raise NoMessage(f"{form!r} is no format of a text")

    def _texts(self, texts: tuple[str, ...], form: str) -> str:
        match form:
            case "":
                return listed(texts, self.language)
            case "brackets":
                return self.language.brackets.format(listed(texts, self.language)) if texts else ""
            case "path":
                half = _MAX_PATH // 2
                steps = texts if len(texts) <= _MAX_PATH else (*texts[:half], "…", *texts[-half:])
                return " → ".join(shortened(step, _MAX_TEXT) for step in steps)
            case "reasons":
                return self.language.separator.join(map(self._reason, texts[:_MAX_LISTED]))
        raise NoMessage(f"{form!r} is no format of several texts")

    def _reason(self, word: str) -> str:
        return self.language.reasons.get(word) or shortened(word, _MAX_TEXT)


def listed(texts: tuple[str, ...], language: Language) -> str:
    """The texts, quoted; of more than ten the first ten and how many more there are."""
    opening, closing = language.quote
    shown = [f"{opening}{shortened(text, _MAX_TEXT)}{closing}" for text in texts[:_MAX_LISTED]]
    if len(texts) > _MAX_LISTED:
        shown.append(language.more.format(len(texts) - _MAX_LISTED))
    return language.separator.join(shown) or language.none


def template(finding: Finding, language: Language) -> Template:
    """Raises NoMessage."""
    try:
        return language.templates[finding.name][finding.variant]
    except KeyError:
        raise NoMessage(f"no message for {finding.name!r}, variant {finding.variant!r}") from None


def words(finding: Finding, line: int | None, lang: Lang) -> tuple[str, str]:
    """Message and help of a finding at `line`. Raises NoMessage for one that breaks the contract of `variants`."""
    language = LANGUAGES[lang]
    message, advice = template(finding, language)
    blanks: dict[str, _Blank | str] = {name: _Blank(value, language) for name, value in finding.arguments}
    blanks["where"] = "" if finding.phase is None else language.where.format(finding.phase)
    blanks["fence"] = language.fence if line is None else language.fence_at.format(line)
    try:
        sentences = [advice.format_map(blanks)]
        message = message.format_map(blanks).lstrip()
    except KeyError as missing:
        raise NoMessage(f"{finding.name!r}, variant {finding.variant!r}, lacks its argument {missing}") from None
    if finding.suggestions:
        sentences.append(language.candidates.format(listed(finding.suggestions, language)))
    if finding.name.startswith(("handover-", "placeholder-")) or (finding.name, finding.variant) in _REMARKS:
        sentences.append(language.remark)
    return message, language.between_sentences.join(sentences)


class Wording:
    """`words` in one language. What is said of many places in the same words is put together once."""

    def __init__(self, lang: Lang) -> None:
        self._lang: Lang = lang
        self._told_of_line: dict[tuple[str, str], bool] = {}
        self._known: dict[tuple[object, ...], tuple[str, str]] = {}

    def __call__(self, finding: Finding, line: int | None) -> tuple[str, str]:
        """Message and help of a finding at `line`. Raises NoMessage."""
        kind = (finding.name, finding.variant)
        told = self._told_of_line.get(kind)
        if told is None:
            texts = template(finding, LANGUAGES[self._lang])
            told = self._told_of_line[kind] = any(_OF_LINE in text for text in texts)
        said = (kind, finding.phase, finding.arguments, finding.suggestions, line if told else None)
        known = self._known.get(said)
        if known is None:
            if len(self._known) >= _KEPT:
                self._known.clear()
            known = self._known[said] = words(finding, line, self._lang)
        return known
