"""What ends a command with status 2: wrong usage and system faults, each as one sentence in the user's language."""

from __future__ import annotations

import errno
from typing import Final

from aop_runtime.faults import Fault
from catalog.errors import CatalogError
from cli.messages import say
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.visible import visible
from pipeline.stores.protocol import StoreError

_REASONS: Final[dict[int | None, str]] = {
    errno.ENOENT: "errno.missing",
    errno.EACCES: "errno.denied",
    errno.EPERM: "errno.denied",
    errno.ESPIPE: "errno.not-a-file",
    errno.ENXIO: "errno.not-a-file",  # a socket
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
}


class Trouble(Exception):
    """`key` is a message's in `cli.messages`; it says what is wrong, where, and what to do."""

    def __init__(self, key: str, **arguments: str | int) -> None:
        super().__init__(key, arguments)
        self.key = key
        self.arguments = arguments

    def text(self, lang: Lang) -> str:
        return say(self.key, lang, **self.arguments)


class OutputFault(Exception):
    """What a lower layer has put into words already, in both languages."""

    def __init__(self, japanese: str, english: str) -> None:
        super().__init__(japanese, english)
        self.japanese = japanese
        self.english = english


def reason(error: OSError | ValueError, lang: Lang) -> str:
    """Why the system refused, in words; the system's own for what is rare."""
    if not isinstance(error, OSError):
        return str(error)  # a path with a NUL
    key = _REASONS.get(error.errno)
    return say(key, lang) if key else error.strerror or str(error)


def sentence(error: Exception, lang: Lang) -> str | None:
    """The sentence about a system fault or wrong usage; None for what is neither, which is a fault of ours."""
    match error:
        case Trouble():
            return error.text(lang)
        case OutputFault():
            return visible(error.japanese if lang == "ja" else error.english)
        case CatalogError(reason="file-unreadable", __cause__=OSError() as cause):
            return sentence(cause, lang)
        case CatalogError():
            return visible(error.message(lang))  # it may name what a server or a file says
        case Fault():
            return visible(error.text(lang))
        case StoreError():
            return visible(error.text(lang))
        case OSError():
            where = "" if error.filename is None else str(error.filename)
            return say(
                "trouble.system" if where else "trouble.system-nowhere", lang, path=where, reason=reason(error, lang)
            )
        case MemoryError():
            return say("trouble.memory", lang)
        case _:
            return None


SYSTEM_FAULTS: Final = (Trouble, OutputFault, CatalogError, StoreError, Fault, OSError, MemoryError)
"""What `sentence` has words for."""
