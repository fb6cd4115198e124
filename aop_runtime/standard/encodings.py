"""In which encoding a text is, and whether it is one. Pure.

Of those that Japanese businesses use: UTF-8, UTF-16, Shift_JIS as Windows has it (CP932), EUC-JP, ISO-2022-JP.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

ENCODINGS: Final = ("utf-8", "cp932", "euc_jp", "iso2022_jp", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1")
"""Those that a reader may ask for."""

# In this order: the mark of UTF-32 begins like that of UTF-16.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

# Control characters that no text holds; 1A ends files of DOS, 1B colours logs.
_NO_TEXT: Final = re.compile("[\x00-\x07\x0e-\x19\x1c-\x1f\x7f\ufffe\uffff]")
_WRITTEN: Final = re.compile("[\\s!-~\u00a5\u2010-\u203b\u3000-\u30ff\u4e00-\u9fff\uff01-\uff9f]")
_KANA: Final = re.compile("[\u3001\u3002\u3041-\u3096\u30a1-\u30fc]")
_BEYOND_ASCII: Final = re.compile("[^\x00-\x7f]")

_BINARIES: Final = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP, or Office (xlsx, docx, pptx)"),
    (b"PK\x05\x06", "ZIP"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Office before 2007 (xls, doc, ppt), or Outlook (msg)"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF8", "GIF"),
    (b"II*\x00", "TIFF"),
    (b"MM\x00*", "TIFF"),
    (b"\x1f\x8b", "gzip"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!\x1a\x07", "RAR"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
)


def binary_kind(head: bytes) -> str | None:
    """What a file that begins like this is, where it is known to be no text."""
    return next((kind for mark, kind in _BINARIES if head.startswith(mark)), None)


def detect(data: bytes, *, whole: bool = True) -> str | None:
    """The codec that reads `data` as a text; None: none does. Without `whole`, `data` may end in a character's middle.

    A detected codec decodes all of the data that it was detected on.
    """
    if binary_kind(data) is not None:
        return None
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return codec if _is_text(data, codec, whole) else None
    if b"\0" in data:
        return _without_mark(data, whole)
    if b"\x1b" in data and data.isascii() and _is_text(data, "iso2022_jp", whole) and _shifts(data):
        return "iso2022_jp"
    if _is_text(data, "utf-8", whole):
        return "utf-8"
    fits_euc, fits_cp932 = _is_text(data, "euc_jp", whole), _is_text(data, "cp932", whole)
    if fits_euc and (not fits_cp932 or _has_kana(_decoded(data, "euc_jp", whole))):
        return "euc_jp"
    return "cp932" if fits_cp932 else None


def _decoded(data: bytes, codec: str, whole: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(codec)().decode(data, final=whole)
    except UnicodeError:
        return None


def _is_text(data: bytes, codec: str, whole: bool) -> bool:
    text = _decoded(data, codec, whole)
    return text is not None and _NO_TEXT.search(text) is None


def _shifts(data: bytes) -> bool:
    """It goes over to Japanese characters; other escapes colour a terminal."""
    return any(escape in data for escape in (b"\x1b$B", b"\x1b$@", b"\x1b(J", b"\x1b$(D", b"\x1b(I"))


def _without_mark(data: bytes, whole: bool) -> str | None:
    """UTF-16, where the zero bytes are halves of ASCII characters, and all of it looks like writing."""
    second_halves = data[1::2].count(0)
    share = second_halves / data.count(0)
    codec = "utf-16-le" if share >= 0.75 else "utf-16-be" if share <= 0.25 else None
    text = None if codec is None else _decoded(data, codec, whole)
    if not text or _NO_TEXT.search(text) is not None:
        return None
    return codec if len(_WRITTEN.findall(text)) / len(text) >= 0.9 else None


def _has_kana(text: str | None) -> bool:
    """Japanese text in EUC-JP has hiragana, katakana, or 。; half-width katakana of CP932 (files of banks) also read as
    EUC-JP, but as rare ideographs alone."""
    if text is None:
        return False
    beyond = len(_BEYOND_ASCII.findall(text))
    return beyond > 0 and len(_KANA.findall(text)) / beyond >= 0.1
