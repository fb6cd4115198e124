"""Document ids, checked at every entrance: they stand in URLs, keys and pages."""

from __future__ import annotations

import unicodedata
from hashlib import sha256
from typing import Final, Literal, TypeAlias

from pipeline.diagnostics.lang import Lang

MAX_BYTES: Final = 512
_ASCII: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~/-")

IdFault: TypeAlias = Literal["empty", "long", "character", "segment"]

_SENTENCES: Final[dict[IdFault, tuple[str, str]]] = {
    "empty": (
        "文書の ID が空です。例: reports/monthly.md",
        "the document id is empty. For example: reports/monthly.md",
    ),
    "long": (
        f"文書の ID は UTF-8 で {MAX_BYTES} バイトまでです（{{detail}} バイトあります）。短くしてください。",
        f"a document id has at most {MAX_BYTES} bytes of UTF-8, and this has {{detail}}. Shorten it.",
    ),
    "character": (
        "文書の ID に使えない文字 {detail} があります。英数字、各国語の文字、「.」「_」「~」「/」「-」だけが使えます。",
        "the document id contains {detail}. Letters of any script, the digits 0 to 9 and . _ ~ / - are allowed.",
    ),
    "segment": (
        "文書の ID を「/」で区切った部分 {detail} は使えません（空、「.」、「..」は不可）。取り除いてください。",
        "{detail} is no part of a document id between slashes (empty, . and .. are not allowed). Remove it.",
    ),
}


class InvalidDocumentId(ValueError):
    """What the user named is no document id. `str(error)` is the English sentence."""

    def __init__(self, fault: IdFault, detail: str = "") -> None:
        super().__init__(_SENTENCES[fault][1].format(detail=detail))
        self.fault: IdFault = fault
        self.detail = detail

    def text(self, lang: Lang) -> str:
        return _SENTENCES[self.fault][0 if lang == "ja" else 1].format(detail=self.detail)


def check_document_id(text: str) -> str:
    """The id in its composed form (NFC: macOS hands out names decomposed). Raises InvalidDocumentId.

    A combining mark counts as part of the letter before it.
    """
    if not text:
        raise InvalidDocumentId("empty")
    if len(text) > MAX_BYTES:  # before anything is done with it; a character has at least one byte
        raise InvalidDocumentId("long", str(len(text.encode("utf-8", "surrogatepass"))))
    text = unicodedata.normalize("NFC", text)
    after_letter = False
    for character in text:
        category = unicodedata.category(character)
        mark = category[0] == "M" and after_letter
        if not (mark or character in _ASCII or (category[0] == "L" and not character.isascii())):
            raise InvalidDocumentId("character", f"U+{ord(character):04X}")
        after_letter = mark or category[0] == "L"
    size = len(text.encode())
    if size > MAX_BYTES:
        raise InvalidDocumentId("long", str(size))
    for segment in text.split("/"):
        if segment in ("", ".", ".."):
            raise InvalidDocumentId("segment", f"“{segment}”")
    return text


def document_hash(document: str) -> str:
    """By which names in the artifact store are made: an id may be longer, and of other letters, than a name may."""
    return sha256(document.encode()).hexdigest()
