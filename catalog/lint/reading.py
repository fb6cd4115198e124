"""From bytes to one JSON value. Only what cannot be read at all is an error; everything else gets a result."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from catalog.errors import CatalogError
from catalog.lint import json_text
from catalog.lint.limits import MAX_BYTES, MAX_DEPTH, MAX_VALUES
from catalog.lint.pointer import Pointer
from catalog.lint.rule import Finding, Rule, Text
from catalog.nodes import MAX_DIGITS, Fault, Json, Node

TOO_LARGE: Final = Rule(
    "TSL001",
    "input-too-large",
    "structural",
    Text(
        "入力が大きすぎます（上限は {limit} {unit_ja}）。中は調べていません。",
        "the input is too large (the limit is {limit} {unit}); it was not looked at.",
    ),
    Text("ツールをいくつかのファイルに分けてください。", "Spread the tools over several files."),
)
TOO_DEEP: Final = Rule(
    "TSL002",
    "input-too-deep",
    "structural",
    Text(
        "入れ子が深すぎます（上限は {limit} 段）。中は調べていません。",
        "the nesting is too deep (the limit is {limit} levels); it was not looked at.",
    ),
    Text("入れ子を浅くし、$defs と $ref で分けてください。", "Nest less; use $defs and $ref."),
)
TWICE: Final = Rule(
    "TSL003",
    "member-duplicate",
    "structural",
    Text(
        "「{name}」が同じオブジェクトに 2 回あります。どちらが使われるかは読む側によって変わります。",
        "`{name}` stands twice in one object; which one counts depends on who reads it.",
    ),
    Text("1 つだけ残してください。", "Keep one of them."),
)

RULES: Final = (TOO_LARGE, TOO_DEEP, TWICE)

_CATALOG: Final = re.compile(r"^(?:version|tools)[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Input:
    """`value` None with `complete` false: it was not looked at, for the reason in `findings`.

    `text`, `tree`: where lines are found; a tree for YAML.
    """

    value: Json
    findings: tuple[Finding, ...]
    complete: bool
    text: str
    tree: Node | None = None

    def lines(self, pointers: Iterable[Pointer]) -> dict[Pointer, int]:
        """The 1-based lines on which the values at `pointers` begin; without those that cannot be found."""
        if self.tree is not None:
            return {pointer: _line(self.tree, pointer) for pointer in pointers}
        return json_text.lines(self.text, pointers) if self.complete else {}


def read(content: bytes, name: str) -> Input:
    """`name`: the file's, or `-`; a catalog in YAML is known by its ending, from standard input by its first keys.

    Raises CatalogError for what is neither JSON nor such YAML.
    """
    if len(content) > MAX_BYTES:
        limits: dict[str, str | int] = {"limit": MAX_BYTES, "unit": "bytes", "unit_ja": "バイト"}
        return Input(None, (Finding(TOO_LARGE, (), limits),), False, "")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CatalogError(name, content.count(b"\n", 0, error.start) + 1, "not-utf8") from error
    is_yaml = PurePath(name).suffix.lower() in (".yaml", ".yml")
    if is_yaml or (name == "-" and not text.lstrip().startswith(("{", "[")) and _CATALOG.search(text)):
        return _read_yaml(text, name)
    return _read_json(text, name)


def _read_json(text: str, name: str) -> Input:
    try:
        survey = json_text.survey(text, max_depth=MAX_DEPTH, max_values=MAX_VALUES)
    except json_text.NotJson as error:
        line = text.count("\n", 0, error.offset) + 1
        column = error.offset - (text.rfind("\n", 0, error.offset) + 1) + 1
        raise CatalogError(name, line, "json-syntax", detail=f"column {column}") from error
    twice = tuple(Finding(TWICE, path, {"name": str(path[-1])}) for path in survey.duplicates)
    if survey.values > MAX_VALUES:
        limits: dict[str, str | int] = {"limit": MAX_VALUES, "unit": "values", "unit_ja": "個の値"}
        return Input(None, (*twice, Finding(TOO_LARGE, (), limits)), False, "")
    if survey.depth > MAX_DEPTH:
        return Input(None, (*twice, Finding(TOO_DEEP, survey.deepest, {"limit": MAX_DEPTH})), False, text)
    value: Json = json.loads(text, parse_int=_integer)
    return Input(value, twice, True, text)


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= MAX_DIGITS else float(digits)


def _read_yaml(text: str, name: str) -> Input:
    from catalog.yaml_reader import read_yaml  # noqa: PLC0415 - most inputs are JSON, and PyYAML is slow to load

    try:
        tree = read_yaml(text)
    except Fault as fault:
        raise CatalogError(name, fault.line, fault.reason, **fault.arguments) from fault
    return Input(tree.json(), (), True, text, tree)


def _line(tree: Node, pointer: Pointer) -> int:
    """Of the closest part of the way that there is."""
    node = tree
    line = node.line
    for step in pointer:
        value = node.value
        if isinstance(value, dict) and step in value:
            line = (node.key_lines or {}).get(str(step), line)
            node = value[str(step)]
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            node = value[step]
            line = node.line
        else:
            break
    return line
