"""What the command says beside diagnostics, in Japanese and English; the same keys and blanks in both."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible


def _texts(lang: Lang) -> Mapping[str, str]:
    # Each run speaks one language: the other one's texts would only cost start-up time.
    if lang == "ja":
        from cli.messages.ja import TEXTS  # noqa: PLC0415 - see above

        return TEXTS
    from cli.messages.en import TEXTS  # noqa: PLC0415 - see above

    return TEXTS


def say(key: str, lang: Lang, **arguments: str | int) -> str:
    """The sentence, its blanks filled as in `str.format`; texts in them cannot move the cursor or break the line."""
    shown = {name: visible(value) if isinstance(value, str) else value for name, value in arguments.items()}
    return _texts(lang)[key].format_map(shown)
