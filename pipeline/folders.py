"""In which folder each document's output goes (O1).

Names depend on the documents alone, and are safe on every file system.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256

MAX_BYTES = 150
"""The longest folder name, in UTF-8 bytes: file systems stop at 255, and a temporary name beside it is longer."""

_UNSAFE = re.compile(
    r'[\x00-\x1f\x7f-\xa0\xad\\/:*?"<>|\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ud800-\udfff]+'
)
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=$|\.)", re.IGNORECASE)


def folders(documents: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The folder name of each document, by its path. `documents`: (path, name); paths POSIX, each once.

    A document's folder has its file's stem. Where two would share one, also on a file system that ignores case or
    composes letters, each has its path in its name, and if that is not enough the path's digest. No name holds a
    separator.
    """
    names = dict(documents)
    level = dict.fromkeys(names, 0)
    chosen = {path: _folder(path, name, 0) for path, name in names.items()}
    while True:
        sharing: dict[str, list[str]] = {}
        for path, folder in chosen.items():
            sharing.setdefault(_compared(folder), []).append(path)
        crowded = [path for paths in sharing.values() if len(paths) > 1 for path in paths if level[path] < 2]
        if not crowded:
            return chosen
        for path in crowded:
            level[path] += 1
            chosen[path] = _folder(path, names[path], level[path])


def _folder(path: str, name: str, level: int) -> str:
    """`level` 0: the stem; 1: the whole path; 2: the path's digest, too."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..", "-")]
    if parts:
        parts[-1] = _stem(parts[-1])
    if not level:
        return safe_name(parts[-1] if parts else name)
    whole = "-".join(parts) or name
    if level == 1:
        return safe_name(whole)
    return safe_name(f"{whole}-{sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}")


def _stem(name: str) -> str:
    """The name without its ending. `pathlib` says the same, and takes longer than all the rest."""
    end = name.rfind(".")
    return name[:end] if 0 < end < len(name) - 1 else name


def _compared(folder: str) -> str:
    """The form in which two names are one to a file system."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", folder).casefold())


def safe_name(text: str) -> str:
    """A folder name for `text`: itself if it is visible, within `MAX_BYTES`, not hidden, not reserved, no way out."""
    name = _UNSAFE.sub("_", text).lstrip(". ~-").rstrip(". ") or "document"
    if _RESERVED.match(name):
        name = f"_{name}"
    encoded = name.encode("utf-8", "surrogatepass")
    if len(encoded) <= MAX_BYTES:
        return name
    mark = sha256(encoded).hexdigest()[:16]
    return f"{encoded[: MAX_BYTES - 17].decode('utf-8', 'ignore').rstrip('. ')}-{mark}"
