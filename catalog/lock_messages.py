"""What can be wrong with a lock file, in both languages; as `errors.MESSAGES`."""

from __future__ import annotations

from typing import Final

LOCK_MESSAGES: Final[dict[str, tuple[str, str]]] = {
    "lock-version": (
        "ロックファイルの version は {supported} でなければなりませんが、{value} です。"
        "新しい aop で作られたものなら、aop を更新してください。",
        "the lock file's version must be {supported}, but is {value}. If a newer aop wrote it, update aop.",
    ),
    "lock-digest": (
        "{where} の schema_sha256 が input_schema と合いません。aop lock で作り直すか、元に戻してください。",
        "{where}: schema_sha256 is not that of input_schema. Make the entry again with aop lock, or put it back.",
    ),
}
"""By reason: (Japanese, English)."""
