"""Quantities have a unit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from catalog.fold import fold
from catalog.lint.arguments import Argument, arguments
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import endings, ends_with, singular, word_set

UNIT: Final = Rule(
    "TSL310",
    "unit-missing",
    "strict",
    Text("引数「{name}」の単位がわかりません。", "nothing tells the unit of argument `{name}`."),
    Text(
        "名前（timeout_seconds）か説明に単位を書いてください。",
        "Write it into the name (timeout_seconds) or the description.",
    ),
)
RULES: Final = (UNIT,)

_QUANTITIES: Final = endings(
    "timeout, duration, delay, interval, ttl, expiry, lifetime, latency, wait, elapsed, age, size, width,"
    "height, depth, length, weight, distance, radius, speed, temperature, pressure, volume, area, memory,"
    "bandwidth, price, amount, cost, fee, salary, budget, balance, discount, tax, 金額, 価格, 時間, 期間, 長さ, 重さ"
)
_COUNTED: Final = endings("page size, batch size, chunk size, sample size, group size, team size")
"""Numbers of things."""
_MONEY: Final = endings("price, amount, cost, fee, budget, balance, salary")
_CURRENCY: Final = endings("currency, currency code, 通貨")
_UNITS: Final = word_set(
    "ms msec millis millisecond sec second minute min hour day week month year byte kb mb gb kib mib gib bit px "
    "pixel point pt em cm mm km meter metre mile inch feet foot gram kg percent percentage ratio rate currency "
    "jpy usd eur yen dollar cent celsius fahrenheit kelvin count char character token line page item row entry "
    "word degree hz khz mhz bps"
)
"""As words of a name."""
_SAID: Final = re.compile(
    r"\b(?:ms|msecs?|milliseconds?|secs?|seconds?|minutes?|mins?|hours?|days?|weeks?|months?|years?|bytes?|[kmg]i?b|bits?"
    r"|pixels?|px|points?|[ckm]m|met(?:er|re)s?|miles?|inch(?:es)?|feet|grams?|kg|percent(?:age)?|ratio|currency|jpy|usd"
    r"|eur|yen|dollars?|cents?|celsius|fahrenheit|characters?|chars?|tokens?|lines?|pages?|items?|rows?|entries|words?"
    r"|results?|records?|degrees?|k?hz|number of|how many|count)\b"
    r"|[%％℃円秒分日週月年件個枚]|時間|バイト|ピクセル|文字|メートル|グラム|キロ|パーセント|割合|通貨|単位|ページ"
)
_WINDOW: Final = 2_000


def check(tool: Tool) -> Iterator[Finding]:
    named = list(arguments(tool))
    has_currency = any(ends_with(argument.words, _CURRENCY) for argument in named)
    for argument in named:
        if _lacks_unit(argument, has_currency=has_currency):
            yield Finding(UNIT, argument.path, {"name": argument.name})


def _lacks_unit(argument: Argument, *, has_currency: bool) -> bool:
    if argument.is_choice or not argument.types or not argument.types <= {"number", "integer"}:
        return False
    name = tuple(singular(word) for word in argument.words)
    if not ends_with(name, _QUANTITIES) or ends_with(name, _COUNTED) or not _UNITS.isdisjoint(name):
        return False
    if has_currency and ends_with(name, _MONEY):
        return False
    return _SAID.search(fold(argument.text[:_WINDOW])) is None
