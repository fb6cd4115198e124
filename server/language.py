"""The language that somebody is answered in."""

from __future__ import annotations

from typing import Final

from starlette.requests import HTTPConnection

from pipeline.diagnostics.lang import Lang

DEFAULT: Final[Lang] = "ja"
_MOST: Final = 1_000


def language_of(request: HTTPConnection) -> Lang:
    """The better liked of Japanese and English in `Accept-Language`; Japanese where it says nothing of them."""
    return preferred(request.headers.get("accept-language", ""))


def preferred(header: str) -> Lang:
    best: tuple[float, Lang] | None = None
    for entry in header[:_MOST].split(","):
        tag, _, weight = entry.partition(";")
        lang = _spoken(tag.strip().lower())
        quality = _quality(weight)
        if lang is not None and quality > 0 and (best is None or quality > best[0]):
            best = (quality, lang)
    return DEFAULT if best is None else best[1]


def _spoken(tag: str) -> Lang | None:
    primary = tag.partition("-")[0]
    return "ja" if primary == "ja" else "en" if primary == "en" else None


def _quality(weight: str) -> float:
    name, _, value = weight.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return min(1.0, float(value))
    except ValueError:
        return 0.0
