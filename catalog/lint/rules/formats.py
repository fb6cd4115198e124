"""Texts that follow a form say which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from catalog.fold import fold
from catalog.lint.arguments import Argument, arguments
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import endings, ends_with, singular

FORMAT: Final = Rule(
    "TSL311",
    "format-missing",
    "strict",
    Text(
        "引数「{name}」の形式がわかりません。",
        "nothing tells the form of argument `{name}`.",
    ),
    Text(
        "format（{format}）か pattern を書くか、説明に形式（{example}）を書いてください。",
        "Give it a format ({format}) or a pattern, or write the form into its description ({example}).",
    ),
)
RULES: Final = (FORMAT,)

_FORMS: Final = (
    (endings("date, day, birthday, 日付, 年月日"), "date", "YYYY-MM-DD"),
    (
        endings("deadline, datetime, timestamp, time, at, since, until, 日時, 時刻"),
        "date-time",
        "2026-04-01T09:00:00+09:00",
    ),
    (endings("email, email address, mail address, メールアドレス"), "email", "taro@example.com"),
    (endings("uuid, guid"), "uuid", "123e4567-e89b-12d3-a456-426614174000"),
    (endings("timezone, time zone, tz"), "—", "Asia/Tokyo"),
    (endings("phone, phone number, 電話番号"), "—", "+81312345678"),
    (endings("currency, currency code, 通貨"), "—", "ISO 4217: JPY"),
    (endings("country, country code"), "—", "ISO 3166-1: JP"),
    (endings("locale, language code"), "—", "BCP 47: ja-JP"),
    (endings("postal code, zip code, 郵便番号"), "—", "100-0001"),
    (endings("color, colour"), "—", "#rrggbb"),
    (endings("cron"), "—", "0 9 * * 1"),
)
"""Endings of names, the format of JSON Schema for them, an example."""
_NO_TIMES: Final = frozenset({"look", "what", "full", "part"})
_SAID: Final = re.compile(
    r"yyyy|iso[ -]?\d|rfc[ -]?\d|unix|epoch|e\.164|bcp[ -]?47|iana|\butc\b|format|例|形式|e\.g\.|for example|such as"
    r"|\bex[:.]|#[0-9a-f]{3}|\d{4}[-/]\d|\d{1,2}:\d{2}|(?:asia|europe|america)/|@[a-z]|[23] ?文字|two-letter"
    r"|three-letter|\bhex\b"
)
_WINDOW: Final = 2_000


def check(tool: Tool) -> Iterator[Finding]:
    for argument in arguments(tool):
        form = _missing_form(argument)
        if form is not None:
            yield Finding(FORMAT, argument.path, {"name": argument.name, "format": form[0], "example": form[1]})


def _missing_form(argument: Argument) -> tuple[str, str] | None:
    if not argument.types or not argument.takes_text:
        return None
    if argument.values("format") or argument.values("pattern") or argument.choices:
        return None
    name = tuple(singular(word) for word in argument.words)
    if name == ("at",) or (name[-1:] == ("at",) and name[-2] in _NO_TIMES):
        return None
    for wanted, form, example in _FORMS:
        if ends_with(name, wanted):
            return None if _SAID.search(fold(argument.text[:_WINDOW])) else (form, example)
    return None
