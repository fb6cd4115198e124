"""What can be wrong with a catalog file or an `mcpServers` file, in both languages. Servers and locks have messages of
their own.

A faulty file is the user's and is refused whole; the command line turns the error into exit status 2.
"""

from __future__ import annotations

from typing import Literal

from catalog.lock_messages import LOCK_MESSAGES
from catalog.server_messages import SERVER_MESSAGES

Language = Literal["ja", "en"]

MAX_BYTES = 8 * 1024 * 1024
"""How large a catalog file or an `mcpServers` file may be."""

_MOST_SHOWN = 500
"""Characters of one value in a message."""

MESSAGES: dict[str, tuple[str, str]] = {
    "file-unreadable": (
        "ファイルを読めません（{detail}）。パスと読み取りの権限を確かめてください。",
        "the file cannot be read ({detail}). Check the path and the permission to read it.",
    ),
    "file-changed": (
        "読んでいる間にカタログが変わりました。もう一度実行してください。",
        "the catalog changed while it was being read. Run it again.",
    ),
    "file-too-large": (
        "ファイルが大きすぎます。{limit} バイトまでにしてください。",
        "the file is too large. Keep it within {limit} bytes.",
    ),
    "not-utf8": (
        "UTF-8 の文字として読めません。ファイルを UTF-8 で保存してください。",
        "the bytes are not UTF-8. Save the file as UTF-8.",
    ),
    "yaml-syntax": (
        "YAML として読めません（{detail}）。字下げ、引用符、括弧の対応を確かめてください。",
        "this is not YAML ({detail}). Check the indentation, the quotes and the brackets.",
    ),
    "json-syntax": (
        "JSON として読めません（{detail}）。",
        "this is not JSON ({detail}).",
    ),
    "number-large": (
        "数が大きすぎます。文字列なら引用符で囲んでください。",
        "a number is too large. Write it in quotes if it is a string.",
    ),
    "yaml-alias": (
        "別名（*{name}）は使えません。同じ内容をその場所に書いてください。",
        "aliases (*{name}) are not allowed. Write the content out in this place.",
    ),
    "yaml-tag": (
        "タグ（{tag}）は使えません。タグを消してください。",
        "tags ({tag}) are not allowed. Remove the tag.",
    ),
    "yaml-key": (
        "キーが文字列ではありません。キーには 1 語の文字列を書いてください。",
        "a key is not a string. Write a plain word as the key.",
    ),
    "yaml-documents": (
        "1 つのファイルに複数の YAML 文書があります（「---」の行）。ファイルを分けてください。",
        'the file holds more than one YAML document (a "---" line). Use one file for each.',
    ),
    "too-deep": (
        "入れ子が深すぎます。{limit} 段までにしてください。",
        "the nesting is too deep. Keep it within {limit} levels.",
    ),
    "too-many": (
        "値が多すぎます。1 つのファイルの値は {limit} 個までにしてください。",
        "there are too many values. Keep a file within {limit} values.",
    ),
    "key-duplicate": (
        "キー「{key}」が {first} 行目と重複しています。どちらかを消してください。",
        'the key "{key}" stands on line {first} already. Remove one of them.',
    ),
    "key-unknown": (
        "{where} に知らないキー「{key}」があります。書けるキーは {allowed} です。",
        '{where} has an unknown key "{key}". The keys are {allowed}.',
    ),
    "key-missing": (
        "{where} に「{key}」がありません。書き足してください。",
        '{where} lacks "{key}". Add it.',
    ),
    "type-wrong": (
        "{where} は {expected} でなければなりませんが、{got} です。",
        "{where} must be {expected}, but is {got}.",
    ),
    "value-wrong": (
        "{where} の値「{value}」は使えません。{expected} を書いてください。",
        '{where} cannot be "{value}". Write {expected}.',
    ),
    "version-unsupported": (
        "カタログの version は {supported} でなければなりませんが、{value} です。",
        "the catalog's version must be {supported}, but is {value}.",
    ),
    "name-empty": (
        "{where} が空です。名前を書いてください。",
        "{where} is empty. Write a name.",
    ),
    "name-undeclarable": (
        "{where} の名前「{name}」は宣言に書けません。"
        "前後の空白、改行、, + 、 括弧、空白つきの「の」「と」、「なし」を避けてください。",
        '{where}: no declaration can name "{name}". Avoid blanks at its ends, line breaks, commas, +, parentheses, '
        "a の or と between blanks, and なし.",
    ),
    "name-duplicate": (
        "{where} の名前「{name}」は {first} 行目の「{other}」と重複しています"
        "（全角と半角、大文字と小文字は区別しません）。",
        '{where}: the name "{name}" equals "{other}" on line {first} '
        "(full and half width, upper and lower case are the same).",
    ),
    "word-duplicate": (
        "{where} に「{word}」が 2 回あります。1 つにしてください。",
        '{where} holds "{word}" twice. Keep one.',
    ),
    "not-for-kind": (
        "{where}: 「{key}」は kind が {kind} の道具には書けません。消すか、kind を直してください。",
        '{where}: a tool of kind {kind} has no "{key}". Remove it or correct the kind.',
    ),
    "category-unknown": (
        "{where} のカテゴリ「{category}」は、この道具の categories にありません。あるのは {known} です。",
        '{where}: the category "{category}" is not among the tool\'s categories ({known}).',
    ),
    "category-missing": (
        "{where} に category がありません。カテゴリを持つ道具の操作には、必ずカテゴリを書いてください。",
        "{where} has no category. Every operation of a tool with categories needs one.",
    ),
    "category-unexpected": (
        "{where} に category がありますが、この道具には categories がありません。どちらかに揃えてください。",
        "{where} has a category, but the tool has no categories. Add them or remove it.",
    ),
    "argument-unknown": (
        "{where} の引数「{argument}」は input_schema の properties にありません。あるのは {known} です。",
        '{where}: the argument "{argument}" is not in the properties of input_schema ({known}).',
    ),
    "argument-not-text": (
        "{where} の引数「{argument}」の型は string ではありません。文を受け取る引数は string でなければなりません。",
        '{where}: the argument "{argument}" is not of type string. An argument that receives text must be.',
    ),
    "argument-twice": (
        "{where} の引数「{argument}」が 2 か所に割り当てられています。1 か所にしてください。",
        '{where}: the argument "{argument}" is mapped twice. Keep one place.',
    ),
    "path-argument": (
        "{where} のパスの「{{{argument}}}」は input_schema の properties にありません。",
        '{where}: "{{{argument}}}" in the path is not in the properties of input_schema.',
    ),
    "schema-invalid": (
        "{where} は JSON Schema として正しくありません。{expected} でなければなりません。",
        "{where} is not valid JSON Schema: it must be {expected}.",
    ),
    "server-incomplete": (
        "{where} に接続先がありません。command（stdio）か url（HTTP）を書いてください。",
        "{where} says not where the server is. Write a command (stdio) or a url (HTTP).",
    ),
    "server-ambiguous": (
        "{where} に command と url の両方があります。どちらかにしてください。",
        "{where} has both a command and a url. Keep one.",
    ),
    "server-is-tool": (
        "MCP サーバーの名前「{name}」は、カタログの道具「{other}」と同じです。"
        "この道具は MCP サーバーではない（kind が {kind}）ので、サーバーの名前を変えてください。",
        'the MCP server "{name}" has the name of the catalog\'s tool "{other}", which is no MCP server '
        "(its kind is {kind}): rename the server.",
    ),
    "remove-unknown": (
        "remove の「{name}」は、下の層のどの道具の名前でもありません。名前を確かめてください。",
        '"{name}" in remove is the name of no tool in the layers below. Check the name.',
    ),
}
"""By reason: (Japanese, English)."""


class CatalogError(Exception):
    """`file` cannot be used. `reason`: a key of `MESSAGES`, `SERVER_MESSAGES` or `LOCK_MESSAGES`. `line`: 1-based, None
    where nothing could be read."""

    def __init__(self, file: str, line: int | None, reason: str, **arguments: str | int) -> None:
        super().__init__(file, line, reason, arguments)
        self.file = file
        self.line = line
        self.reason = reason
        self.arguments = arguments

    def message(self, lang: Language) -> str:
        """`FILE:LINE: SENTENCE`."""
        arguments = {name: _cut(value) if isinstance(value, str) else value for name, value in self.arguments.items()}
        words = MESSAGES.get(self.reason) or SERVER_MESSAGES.get(self.reason) or LOCK_MESSAGES[self.reason]
        sentence = words[0 if lang == "ja" else 1].format(**arguments)
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {sentence}"

    def __str__(self) -> str:
        return self.message("en")

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (self.file, self.line, self.reason, self.arguments)


def _cut(text: str) -> str:
    """A key or a name of a file may have megabytes."""
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 100]}…{text[-100:]}"


def _rebuild(file: str, line: int | None, reason: str, arguments: dict[str, str | int]) -> CatalogError:
    """Errors cross process borders when many documents are compiled at once."""
    return CatalogError(file, line, reason, **arguments)
