"""Faulty catalog files: refused whole, with the line of the fault and a sentence in both languages."""

from __future__ import annotations

import os
import pickle
import string
import time
from pathlib import Path

import pytest
from catalog_files import ATTENDANCE, STOCK, write

from catalog.errors import MAX_BYTES, MESSAGES, CatalogError
from catalog.load import load_catalog


def refused(path: Path) -> CatalogError:
    with pytest.raises(CatalogError) as caught:
        load_catalog([path])
    return caught.value


def line_of(text: str, needle: str) -> int:
    assert text.count(needle) == 1, needle
    return text[: text.index(needle)].count("\n") + 1


ENUM = "{type: string, enum: [east, on]}"
STANDARD = "version: 1\ntools:\n - name: a\n   kind: standard\n"

# A file that is right but for one replacement: (file, what is replaced, by what, the fault, a word of the faulty line).
FAULTS: tuple[tuple[str, str, str, str, str], ...] = (
    (STOCK, "version: 1", "version: 2", "version-unsupported", "version: 2"),
    (STOCK, "version: 1", "version: true", "version-unsupported", "version: true"),
    (STOCK, "version: 1", "version: '1'", "version-unsupported", "version: '1'"),
    (STOCK, "version: 1\n", "version: 1\nauthor: 誰か\n", "key-unknown", "author"),
    (STOCK, "version: 1\n", "version: 1\nremove: [slack]\n", "remove-unknown", "remove"),
    (STOCK, "version: 1\n", "version: 1\nremove: [Ｚaiko]\n", "name-duplicate", "- name: zaiko"),
    (STOCK, "version: 1\n", "version: 1\nremove: slack\n", "type-wrong", "remove"),
    (STOCK, "    title: 在庫管理", "    titel: 在庫管理", "key-unknown", "titel"),
    (STOCK, "        effect: read", "        effct: read", "key-unknown", "effct"),
    (STOCK, "title: 在庫数, hints", "title: 在庫数, hint", "key-unknown", "hint:"),
    (STOCK, "    kind: mcp\n", "", "key-missing", "- name: zaiko"),
    (STOCK, "      - name: get_stock\n        category", "      - category", "key-missing", "- category"),
    (STOCK, "    kind: mcp", "    kind: soap", "value-wrong", "soap"),
    (STOCK, "        effect: read", "        effect: reads", "value-wrong", "reads"),
    (STOCK, "        effect: read", "        effect: true", "type-wrong", "effect: true"),
    (STOCK, "    title: 在庫管理", "    title: [在庫管理]", "type-wrong", "[在庫管理]"),
    (STOCK, "    title: 在庫管理", "    title: ''", "name-empty", "title: ''"),
    (STOCK, "    hints: [在庫, 倉庫]", "    hints: 在庫", "type-wrong", "hints: 在庫"),
    (STOCK, "    hints: [在庫, 倉庫]", "    hints: [在庫, 在庫]", "word-duplicate", "[在庫, 在庫]"),
    (STOCK, "    hints: [在庫, 倉庫]", "    hints: [在庫, 12]", "type-wrong", "12"),
    (STOCK, "  - name: zaiko", "  - name: 在庫、倉庫", "name-undeclarable", "在庫、倉庫"),
    (STOCK, "  - name: zaiko", "  - name: stock (new)", "name-undeclarable", "stock (new)"),
    (STOCK, "  - name: zaiko", "  - name: なし", "name-undeclarable", "なし"),
    (STOCK, "  - name: zaiko", "  - name: a の b", "name-undeclarable", "a の b"),
    (STOCK, "  - name: zaiko", '  - name: " zaiko"', "name-undeclarable", '" zaiko"'),
    (STOCK, "  - name: zaiko", '  - name: "zai\\u200bko"', "name-undeclarable", "u200b"),
    (STOCK, "  - name: zaiko", "  - name: 7", "type-wrong", "name: 7"),
    (STOCK, "{name: orders, title: 発注}", "{name: ＳＴＯＣＫ}", "name-duplicate", "ＳＴＯＣＫ"),
    (STOCK, "- name: create_order", "- name: Get_Stock", "name-duplicate", "Get_Stock"),
    (STOCK, "category: orders\n", "category: order\n", "category-unknown", "category: order\n"),
    (STOCK, "        category: orders\n", "", "category-missing", "- name: create_order"),
    (STOCK, "text_argument: lines", "text_argument: line", "argument-unknown", "text_argument: line"),
    (STOCK, "lines: {type: string,", "lines: {type: [integer],", "argument-not-text", "text_argument: lines"),
    (STOCK, "idempotency_argument: key", "idempotency_argument: id", "argument-unknown", "idempotency_argument: id"),
    (STOCK, "confirm: always", "confirm: sometimes", "value-wrong", "sometimes"),
    (STOCK, "timeout_s: 30", "timeout_s: 0", "value-wrong", "timeout_s: 0"),
    (STOCK, "timeout_s: 30", "timeout_s: soon", "type-wrong", "timeout_s: soon"),
    (STOCK, "timeout_s: 30", "timeout_s: true", "type-wrong", "timeout_s: true"),
    (STOCK, "permission: orders.write", "permission: ' '", "name-empty", "permission: ' '"),
    (STOCK, "output_schema: {type: object}", "output_schema: {type: thing}", "schema-invalid", "thing"),
    (STOCK, "        confirm: always", "        method: POST", "not-for-kind", "method: POST"),
    (STOCK, "    hints: [在庫, 倉庫]", "    options: [profile]", "not-for-kind", "options"),
    (STOCK, "    kind: mcp", "    kind: standard", "not-for-kind", "    operations:\n"),
    (STOCK, "date: 2026-11-01", "date: 2026-13-01", "value-wrong", "2026-13-01"),
    (STOCK, "date: 2026-11-01", "date: [2026]", "type-wrong", "[2026]"),
    (STOCK, "      date: 2026-11-01\n", "", "key-missing", "zaiko.example.com/docs"),
    (STOCK, "operations: 3", "operations: two", "type-wrong", "two"),
    (STOCK, "[sync]", "[sync, sync]", "word-duplicate", "[sync, sync]"),
    (STOCK, "[sync]", "sync", "type-wrong", "left_out: sync"),
    (STOCK, "note: 手動", "note: ' '", "name-empty", "note: ' '"),
    (STOCK, "https://zaiko.example.com/mcp", "zaiko.example.com", "value-wrong", '"zaiko.example.com"'),
    (STOCK, "https://zaiko.example.com/mcp", "https://me:pw@zaiko.example.com/", "value-wrong", "me:pw@"),
    (STOCK, "https://zaiko.example.com/mcp", "https://[::1/", "value-wrong", "https://[::1/"),
    (STOCK, "[ZAIKO_TOKEN]", '["Bearer abc"]', "value-wrong", "Bearer abc"),
    (STOCK, 'server: {url: "https://zaiko.example.com/mcp",', "server: {", "server-incomplete", "server: {"),
    (STOCK, 'server: {url: "https', 'server: {command: stock, url: "https', "server-ambiguous", "command: stock"),
    # the schema of an operation
    (STOCK, "item: {type: string, description: 品番}", "item: 品番", "schema-invalid", "item: 品番"),
    (STOCK, ENUM, "{type: string, enum: east}", "schema-invalid", "enum: east"),
    (STOCK, ENUM, "{type: text}", "schema-invalid", "type: text"),
    (STOCK, ENUM, "{type: string, pattern: '('}", "schema-invalid", "pattern: '('"),
    (STOCK, ENUM, "{minLength: -1}", "schema-invalid", "minLength: -1"),
    (STOCK, ENUM, "{multipleOf: 0}", "schema-invalid", "multipleOf: 0"),
    (STOCK, ENUM, "{maximum: 1e999}", "number-large", "1e999"),
    (STOCK, ENUM, "{maximum: " + "9" * 400 + "}", "number-large", "maximum"),
    (STOCK, ENUM, "{maximum: big}", "schema-invalid", "maximum: big"),
    (STOCK, ENUM, "{uniqueItems: 1}", "schema-invalid", "uniqueItems: 1"),
    (STOCK, ENUM, "{anyOf: []}", "schema-invalid", "anyOf: []"),
    (STOCK, ENUM, "{anyOf: [{type: 5}]}", "schema-invalid", "type: 5"),
    (STOCK, ENUM, "{items: [7]}", "schema-invalid", "items: [7]"),
    (STOCK, ENUM, "{patternProperties: {'[': {}}}", "schema-invalid", "patternProperties"),
    (STOCK, ENUM, "{dependentRequired: {a: b}}", "schema-invalid", "dependentRequired"),
    (STOCK, "          required: [item]", "          required: [item, item]", "schema-invalid", "[item, item]"),
    (STOCK, "          required: [item]", "          required: item", "schema-invalid", "required: item"),
    (STOCK, "        input_schema:\n          type: object\n          properties:\n            item: {",
     "        input_schema:\n          type: array\n          properties:\n            item: {",
     "schema-invalid", "type: array"),
    # http
    (ATTENDANCE, "method: GET", "method: get", "value-wrong", "method: get"),
    (ATTENDANCE, "path: /v1", "path: v1", "value-wrong", "path: v1"),
    (ATTENDANCE, "path: /v1", "path: //evil.example", "value-wrong", "evil"),
    (ATTENDANCE, "path: /v1", "path: /../v1", "value-wrong", "/../v1"),
    (ATTENDANCE, "path: /v1", "path: /v1?a=b", "value-wrong", "a=b"),
    (ATTENDANCE, "{employee_id}/", "{id}/", "path-argument", "{id}/"),
    (ATTENDANCE, "mapping: {query", "mapping: {cookie", "key-unknown", "cookie"),
    (ATTENDANCE, "query: [from]", "query: [until]", "argument-unknown", "until"),
    (ATTENDANCE, "header: [tenant]", "header: [from]", "argument-twice", "header: [from]"),
    (ATTENDANCE, "        effect: read", "        category: records", "category-unexpected", "category: records"),
)  # fmt: skip


@pytest.mark.parametrize(("text", "old", "new", "reason", "place"), FAULTS)
def test_a_fault_is_shown_at_its_line(tmp_path: Path, text: str, old: str, new: str, reason: str, place: str) -> None:
    """Section 10 is a closed schema: one wrong word anywhere is found, named, and shown where it stands."""
    assert old in text
    faulty = text.replace(old, new, 1)
    error = refused(write(tmp_path, "shop.yaml", faulty))
    assert error.reason == reason
    assert error.line == line_of(faulty, place)
    assert error.file == str(tmp_path / "shop.yaml")


# Whole files: (text, fault, line)
FILES: tuple[tuple[str, str, int], ...] = (
    ("", "type-wrong", 1),
    ("# nothing\n", "type-wrong", 1),
    ("just words\n", "type-wrong", 1),
    ("- a\n- b\n", "type-wrong", 1),
    ("version: 1\n", "key-missing", 1),
    ("version: 1\ntools: {}\n", "type-wrong", 2),
    ("version: 1\ntools:\n  - slack\n", "type-wrong", 3),
    ("tools: []\n", "key-missing", 1),
    ("version: 1\ntools:\n  - name: a\n    kind: mcp\n  - kind: mcp\n    name: Ａ\n", "name-duplicate", 6),
    ("version: 1\ntools:\n  - name: a\n    kind: http\n", "key-missing", 3),
    ("version: 1\ntools:\n  - name: a\n    kind: mcp\n    categories: [{name: b}]\n", "key-missing", 3),
    (STANDARD + "   server: {url: 'https://x.example'}\n", "not-for-kind", 5),
    (STANDARD + "   grants:\n      x: [x]\n", "category-unknown", 6),
    (STANDARD + "   categories: [{name: x}]\n   grants:\n     x: [x,\n         y]\n",
     "category-unknown", 8),
    (STANDARD + "   categories: [{name: x}]\n   grants:\n     x: [x]\n     X: [x]\n",
     "word-duplicate", 8),
    (STANDARD + "   categories: [{name: x}]\n   grants: {x: [x, x]}\n",
     "word-duplicate", 6),
    (STANDARD + "   options:\n    - p\n    - Ｐ\n", "name-duplicate", 7),
    ("version: 1\ntools:\n - name: a\n   kind: http\n   operations: []\n   server: {command: a}\n", "not-for-kind", 6),
    # YAML itself
    ("version: 1\ntools:\n  - name: [a\n    kind: mcp\n", "yaml-syntax", 4),
    ("version: 1\n\ttools: []\n", "yaml-syntax", 2),
    ("version: 1\ntools: 'open\n\n\n", "yaml-syntax", 5),
    ("version: 1\nversion: 1\ntools: []\n", "key-duplicate", 2),
    ("version: 1\ntools: []\n---\nversion: 1\n", "yaml-documents", 3),
    ("version: 1\ntools: &a []\nmore: *a\n", "yaml-alias", 3),
    ("version: 1\ntools: !!python/object:os.system []\n", "yaml-tag", 2),
    ("version: !!int 1\ntools: []\n", "yaml-tag", 1),
    ("version: 1\n? [a, b]\n: c\n", "yaml-key", 2),
    ("version: 1\ntools:\n  - name: a\x07b\n", "yaml-syntax", 3),
    ("version: 1\ntools: " + "[" * 70 + "]" * 70 + "\n", "too-deep", 2),
)  # fmt: skip


@pytest.mark.parametrize(("text", "reason", "line"), FILES)
def test_a_file_that_is_no_catalog(tmp_path: Path, text: str, reason: str, line: int) -> None:
    """Syntax and structure alike: the line where it goes wrong."""
    error = refused(write(tmp_path, "shop.yaml", text))
    assert (error.reason, error.line) == (reason, line)


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    """The line of the first byte that is none."""
    path = tmp_path / "shop.yaml"
    path.write_bytes(STOCK.encode("cp932"))
    error = refused(path)
    assert (error.reason, error.line) == ("not-utf8", 5)


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    """Windows editors write one."""
    path = tmp_path / "shop.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + STOCK.encode())
    assert load_catalog([path]).tool("zaiko") is not None


def test_windows_line_ends_do_not_move_the_line(tmp_path: Path) -> None:
    """CR LF counts as one line end."""
    path = tmp_path / "shop.yaml"
    path.write_bytes(STOCK.replace("kind: mcp", "kind: soap").replace("\n", "\r\n").encode())
    assert refused(path).line == 4


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    """A missing file, a folder: no line, but the file and the reason."""
    error = refused(tmp_path / name)
    assert (error.reason, error.line) == ("file-unreadable", None)
    assert error.message("ja").startswith(str(tmp_path / name) + ": ")


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path: Path) -> None:
    """Neither as a catalog nor as an `mcpServers` file; but what a shell puts in place of `<(command)` is read."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert refused(pipe).arguments == {"detail": "not a file"}
    with pytest.raises(CatalogError, match="not a file"):
        load_catalog(mcp_config=pipe)
    reader, writer = os.pipe()
    os.write(writer, STOCK.encode())
    os.close(writer)
    assert load_catalog([Path(f"/dev/fd/{reader}")]).tool("zaiko") is not None
    os.close(reader)


def test_a_name_with_a_nul_is_unreadable_too() -> None:
    """The system refuses such a path with another exception."""
    assert refused(Path("a\0b")).reason == "file-unreadable"


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    """8 MiB."""
    path = tmp_path / "shop.yaml"
    path.write_bytes(b"#" * (MAX_BYTES + 1))
    assert refused(path).reason == "file-too-large"


@pytest.mark.parametrize(
    "content",
    [b"[" * 1_000_000, b"- " * 500_000, b"{a: " * 250_000, b"[0," * 300_000, b"[" + b"0," * 1_000_000, b"&a [*a, *a]",
     b"a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]", b"? " * 100_000, b"\n" * 1_000_000, b"'" * 999_999],
    ids=["flow", "block", "maps", "nested", "wide", "self", "bomb", "keys", "lines", "quotes"],
)  # fmt: skip
def test_hostile_yaml_is_refused_within_bounds(tmp_path: Path, content: bytes) -> None:
    """Depth, number of values and aliases are bounded: no crash, no hang, no expansion."""
    path = tmp_path / "shop.yaml"
    path.write_bytes(content)
    assert refused(path).line is not None


WIDE = {
    "hints": "hints: [" + ",".join(f"h{index}" for index in range(100_000)) + "]",
    "categories": "categories: ["
    + ",".join(f"{{name: c{index}}}" for index in range(20_000))
    + "]\n   operations: ["
    + ",".join(f"{{name: o{index}, category: c{index}}}" for index in range(20_000))
    + "]",
    "required": "operations: [{name: a, input_schema: {required: ["
    + ",".join(f"r{index}" for index in range(100_000))
    + "]}}]",
}


@pytest.mark.parametrize("keys", WIDE.values(), ids=WIDE)
def test_wide_files_take_time_in_proportion(tmp_path: Path, keys: str) -> None:
    """Every list is looked up by its entries, not searched through for each of them."""
    path = write(tmp_path, "shop.yaml", f"version: 1\ntools:\n - name: a\n   kind: mcp\n   {keys}\n")
    started = time.process_time()
    load_catalog([path])
    assert time.process_time() - started < 30


def test_messages_are_short_and_keep_secrets(tmp_path: Path) -> None:
    """A key of megabytes is cut; a credential that somebody wrote where its name belongs is not repeated."""
    assert len(str(refused(write(tmp_path, "shop.yaml", f"? {'a' * 1_000_000}\n: b\n")))) < 2_000
    for old, new in (("[ZAIKO_TOKEN]", '["s3cr-et"]'), ("https://zaiko.example.com/mcp", "https://me:s3cr-et@zaiko/")):
        assert "s3cr-et" not in str(refused(write(tmp_path, "shop.yaml", STOCK.replace(old, new))))


def test_too_many_values_are_counted(tmp_path: Path) -> None:
    """A file of eight megabytes may hold four million zeros."""
    error = refused(write(tmp_path, "shop.yaml", "[" + "0," * 600_000 + "]"))
    assert (error.reason, error.line) == ("too-many", 1)


def test_every_kind_of_fault_is_shown_here() -> None:
    """No message without a file that brings it up (those of `mcpServers` files: test_catalog_merge; `file-changed`:
    test_catalog_cache)."""
    here = {reason for *_, reason, _ in FAULTS} | {reason for _, reason, _ in FILES}
    single = {"file-unreadable", "file-too-large", "not-utf8", "too-many"}
    assert here | single == set(MESSAGES) - {"json-syntax", "server-is-tool", "file-changed"}


def test_every_message_exists_in_both_languages_with_the_same_blanks() -> None:
    """And ends as a sentence does."""
    for japanese, english in MESSAGES.values():
        blanks = [{name for _, name, _, _ in string.Formatter().parse(text) if name} for text in (japanese, english)]
        assert blanks[0] == blanks[1], english
        assert japanese.endswith("。"), japanese
        assert english.endswith("."), english


def test_a_message_says_where_what_and_what_to_do(tmp_path: Path) -> None:
    """File, line, sentence; in the language that is asked for."""
    path = write(tmp_path, "shop.yaml", STOCK.replace("effect: read", "effct: read"))
    error = refused(path)
    assert error.message("ja") == (
        f"{path}:13: zaiko.operations[0] に知らないキー「effct」があります。書けるキーは name, category, effect, "
        "description, input_schema, text_argument, output_schema, confirm, idempotency_argument, timeout_s, "
        "permission, method, path, mapping です。"
    )
    assert error.message("en").startswith(
        f'{path}:13: zaiko.operations[0] has an unknown key "effct". The keys are name,'
    )
    assert str(error) == error.message("en")


def test_an_error_crosses_process_borders(tmp_path: Path) -> None:
    """The message is still there on the other side."""
    error = refused(write(tmp_path, "shop.yaml", "version: 9\ntools: []\n"))
    copy: CatalogError = pickle.loads(pickle.dumps(error))  # noqa: S301 — our own bytes
    assert copy.message("ja") == error.message("ja")
