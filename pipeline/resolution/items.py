"""One ITEM of a declaration, looked up in the catalog (T2, T5, T6, T8)."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from catalog.fold import fold
from catalog.model import Category, Operation, Tool
from catalog.view import CatalogView
from pipeline.artifacts import Grant, Item
from pipeline.diagnostics.findings import Argument

NONE_WORD = "なし"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")
_LIKE_READ_ONLY = r"read|読み?取り|閲覧|参照|のみ"
_OPTION = re.compile(r"(?P<key>[^:：]*)[:：](?P<value>.*)", re.DOTALL)
_READ = "read"
_MAX_SPLITS = 8
"""A head may hold several の; a tool's name is looked for before the first few of them only."""


class ItemFault(NamedTuple):
    name: str
    variant: str
    arguments: tuple[tuple[str, Argument], ...]
    suggestions: tuple[str, ...] = ()


class ItemReading:
    """`tool` None: なし (`none`) or a faulty item. An item with faults attaches nothing.

    Not changed once `read_item` has returned it: items of the same words share one, also those of other documents. So
    `item` is any of them, and its anchor says nothing.
    """

    def __init__(self, item: Item) -> None:
        self.item = item
        self.none = False
        self.tool: Tool | None = None
        self.category: Category | None = None
        self.read_only = False
        self.options: tuple[tuple[str, str], ...] = ()
        self.faults: list[ItemFault] = []

    @property
    def name(self) -> str:
        """How several tools are told apart: the tool's name, or なし."""
        return self.tool.name if self.tool else NONE_WORD

    def grant(self) -> Grant:
        """What it attaches (T7, T8); only for a faultless item with a tool."""
        if self.tool is None:
            raise ValueError("なし grants nothing")
        grant = _plain_grant(self.tool, None if self.category is None else self.category.name, self.read_only)
        return grant._replace(options=self.options) if self.options else grant


@lru_cache(maxsize=1024)
def _plain_grant(tool: Tool, category: str | None, read_only: bool) -> Grant:
    """Cached: the documents of a library use the same tools in the same few ways."""
    categories = () if category is None else (category,)
    operations: tuple[str, ...] | None
    if tool.kind == "standard":
        operations = granted_words(tool, category, read_only)
    elif tool.operations is None:
        operations = None
    else:
        operations = tuple([o.name for o in select(tool.operations, categories, read_only=read_only)])
    narrowable = tool.kind != "standard" and bool(tool.categories) and not categories
    return Grant(tool.name, tool.kind, categories, read_only, operations, (), narrowable)


def select(operations: tuple[Operation, ...], categories: tuple[str, ...], *, read_only: bool) -> list[Operation]:
    """The operations of the categories (of all, for none), reads only if asked."""
    return [
        o for o in operations if (not categories or o.category in categories) and (not read_only or o.effect == "read")
    ]


def granted_words(tool: Tool, category: str | None, read_only: bool) -> tuple[str, ...]:
    """The words that a standard tool's item grants (T8)."""
    grants = dict(tool.grants)
    if category is not None:
        return grants.get(category, (category,))
    if read_only:
        return grants.get(_READ, (_READ,))
    words: dict[str, None] = {}
    for entry in tool.categories:
        words.update(dict.fromkeys(grants.get(entry.name, (entry.name,))))
    return tuple(words)


def read_item(item: Item, declaration: str, catalog: CatalogView) -> ItemReading:
    """Look an item up. `declaration` is the whole as written, for messages."""
    reading = ItemReading(item)
    if not item.text:
        reading.faults.append(ItemFault("tool-unreadable", "empty", (("declaration", declaration),)))
        return reading
    if item.head == NONE_WORD and not item.groups and not item.only:
        reading.none = True
        return reading
    name, category, tool = _split(item.head, catalog)
    if tool is None or category == "":
        reading.faults.append(_no_tool(item, declaration, name, category, tool, catalog))
        return reading
    reading.tool = tool
    if category is not None:
        _read_category(reading, tool, category, declaration, catalog)
    _read_groups(reading, tool, declaration)
    return reading


def _split(head: str, catalog: CatalogView) -> tuple[str, str | None, Tool | None]:
    """NAME, CATEGORY and the tool of that name. A の may be part of a tool's name or of a word that leads to one."""
    tool = catalog.tool(head) if head else None
    if "の" not in head or tool is not None or catalog.known_word(head):
        return head, None, tool
    position = -1
    first: tuple[str, str, None] | None = None
    for _ in range(_MAX_SPLITS):
        position = head.find("の", position + 1)
        if position < 0:
            break
        name, category = head[:position].strip(), head[position + 1 :].strip()
        tool = catalog.tool(name)
        if tool is not None or catalog.known_word(name):
            return name, category, tool
        first = first or (name, category, None)
    return first or (head, None, None)


def _no_tool(
    item: Item, declaration: str, name: str, category: str | None, tool: Tool | None, catalog: CatalogView
) -> ItemFault:
    arguments: tuple[tuple[str, Argument], ...] = (("item", item.text), ("declaration", declaration))
    if tool is not None:  # `slack の`: the category is missing
        return ItemFault("tool-unreadable", "", arguments, (tool.name,))
    suggestions = catalog.suggest_tools(name, category) if name and name != NONE_WORD else ()
    well_formed = _NAME.fullmatch(unicodedata.normalize("NFKC", name)) is not None and category != ""
    if well_formed and not catalog.known_word(name):
        return ItemFault("tool-unknown", "", (*arguments, ("name", name)), suggestions)
    return ItemFault("tool-unreadable", "", arguments, suggestions)


def _read_category(reading: ItemReading, tool: Tool, category: str, declaration: str, catalog: CatalogView) -> None:
    reading.category = tool.category(fold(category))
    if reading.category is not None:
        return
    arguments: tuple[tuple[str, Argument], ...] = (
        ("item", reading.item.text),
        ("declaration", declaration),
        ("tool", tool.name),
        ("category", category),
    )
    if not tool.categories:
        reading.faults.append(ItemFault("category-not-supported", "", arguments, (tool.name,)))
        return
    suggestions = catalog.suggest_categories(tool, category)
    reading.faults.append(ItemFault("category-unknown", "", arguments, suggestions))


def _read_groups(reading: ItemReading, tool: Tool, declaration: str) -> None:
    """`(read-only)` and options, in any order (T2, T8)."""
    if not reading.item.groups:
        return
    options: dict[str, str] = {}
    known = {fold(option): option for option in tool.options}
    base: tuple[tuple[str, Argument], ...] = (
        ("item", reading.item.text),
        ("declaration", declaration),
        ("tool", tool.name),
    )

    def fault(variant: str, group: str) -> None:
        arguments = (*base, ("option", group), ("options", tool.options))
        reading.faults.append(ItemFault("option-unreadable", variant, arguments))

    for group in reading.item.groups:
        if fold(group) == "read-only":
            reading.read_only = True
            continue
        match = _OPTION.fullmatch(group)
        key = known.get(fold(match.group("key").strip())) if match else None
        if match is None or key is None:
            fault("read-only" if re.search(_LIKE_READ_ONLY, fold(group)) else "", group)
        elif not match.group("value").strip():
            fault("empty", group)
        elif key in options:
            fault("repeated", group)
        else:
            options[key] = match.group("value").strip()
    reading.options = tuple(sorted(options.items()))
    if tool.kind != "standard" or not reading.read_only:
        return
    if reading.category is not None:
        if fold(reading.category.name) != _READ:
            arguments = (*base, ("category", reading.category.name))
            reading.faults.append(ItemFault("option-unreadable", "read-only-category", arguments))
    elif tool.category(_READ) is None and not any(fault.name == "category-unknown" for fault in reading.faults):
        reading.faults.append(ItemFault("option-unreadable", "read-only-unsupported", base))
