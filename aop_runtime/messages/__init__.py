"""What the run-time says to people, in Japanese and English; the same keys and blanks in both.

Whoever finds a fault names what there is to say (`Message`); whoever prints it knows the reader's language. A model is
told the English words, which is what `str` gives.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

Value: TypeAlias = "str | int | float | Message"

_REASONS: Final[Mapping[int | None, str]] = {
    errno.ENOENT: "errno.missing",
    errno.EACCES: "errno.denied",
    errno.EPERM: "errno.not-permitted",
    errno.EISDIR: "errno.folder",
    errno.ENOTDIR: "errno.not-a-folder",
    errno.EEXIST: "errno.exists",
    errno.ENOSPC: "errno.full",
    errno.EDQUOT: "errno.full",
    errno.EROFS: "errno.read-only",
    errno.ELOOP: "errno.loop",
    errno.ENAMETOOLONG: "errno.name-too-long",
    errno.EIO: "errno.io",
    errno.EMFILE: "errno.too-many-open",
    errno.ENOEXEC: "errno.no-program",
}


class Message:
    """`key`: of a text in `ja` and `en`. `values`: what fills its blanks, other messages among them. No credential."""

    __slots__ = ("key", "values")

    def __init__(self, key: str, /, **values: Value) -> None:
        self.key = key
        self.values = values

    def text(self, language: str) -> str:
        """Filled in as by `str.format`; Japanese for every language but `en`."""
        filled = {
            name: value.text(language) if isinstance(value, Message) else value for name, value in self.values.items()
        }
        return _texts(language)[self.key].format_map(filled)

    def mapped(self, change: Callable[[str], str]) -> Message:
        """The same one with `change` done to all texts that fill it."""

        def changed(value: Value) -> Value:
            if isinstance(value, Message):
                return value.mapped(change)
            return change(value) if isinstance(value, str) else value

        return Message(self.key, **{name: changed(value) for name, value in self.values.items()})

    def __str__(self) -> str:
        return self.text("en")

    def __repr__(self) -> str:
        return f"Message({self.key!r}, {self.values!r})"


class Worded(Exception):
    """An exception that can say in both languages what is wrong."""

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return str(self.message)

    def text(self, language: str) -> str:
        return self.message.text(language)


def reason(error: OSError) -> Message:
    """Why the system refused; in the system's own words where that is rare."""
    key = _REASONS.get(error.errno)
    return Message("errno.other", said=error.strerror or type(error).__name__) if key is None else Message(key)


def _texts(language: str) -> Mapping[str, str]:
    # Seldom needed, and then in one language.
    if language == "en":
        from aop_runtime.messages.en import TEXTS  # noqa: PLC0415 - see above

        return TEXTS
    from aop_runtime.messages.ja import TEXTS  # noqa: PLC0415 - see above

    return TEXTS
