"""What can be wrong with a lock file, in both languages; as `errors.MESSAGES`."""

from __future__ import annotations

from typing import Final

LOCK_MESSAGES: Final[dict[str, tuple[str, str]]] = {
    "lock-version": (
        "ロックファイルの version は {supported} でなければなりませんが、{value} です。"
        "新しい aop で作られたものなら、aop を更新してください。",
        "the lock file's version must be {supported}, but is {value}. If a newer aop wrote it, update aop.",
    ),
    "lock-twice": (
        "道具「{name}」と「{other}」は同じ名前です（全角と半角、大文字と小文字は区別しません）。どちらかを消してください。",
        'the tools "{name}" and "{other}" have the same name (full and half width, upper and lower case are the same). '
        "Remove one of them.",
    ),
    "lock-changed": (
        "読んでから書くまでの間に、別のプログラムがこのファイルを変えました。何も書いていません。もう一度実行してください。",
        "another program changed the file after it was read. Nothing was written; run it again.",
    ),
    "lock-digest": (
        "{where} の schema_sha256 が input_schema と合いません。aop lock で作り直すか、元に戻してください。",
        "{where}: schema_sha256 is not that of input_schema. Make the entry again with aop lock, or put it back.",
    ),
}
"""By reason: (Japanese, English)."""
