"""YAML with lines. Only what JSON can hold: no aliases (so no expansion), no tags, one document, unique string keys.

Plain scalars follow YAML 1.2's core schema: `on`, `yes` and dates stay strings, as a JSON Schema's enum needs them.
This module imports PyYAML; a catalog that comes from its compiled form never loads it.
"""

from __future__ import annotations

import math
import re
from typing import Protocol, cast

import yaml

from catalog.nodes import MAX_DIGITS, Builder, Fault, Node

_INTEGER = re.compile(r"[-+]?[0-9]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_CONSTANTS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


class _Events(Protocol):
    def check_event(self) -> bool: ...
    def get_event(self) -> yaml.Event: ...
    def dispose(self) -> None: ...


def read_yaml(text: str) -> Node:
    """The one document of `text`. Raises `Fault`."""
    try:
        # The C parser where PyYAML was built with it: the same events, some ten times faster.
        loader = cast(_Events, getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text))
        try:
            return _read(loader)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Fault(mark.line + 1 if mark else 1, "yaml-syntax", detail=error.problem or "unreadable") from error
    except yaml.reader.ReaderError as error:
        raise Fault(_line_of_bad_character(text), "yaml-syntax", detail=str(error.reason)) from error


def _read(loader: _Events) -> Node:
    builder = Builder()
    documents = 0
    while loader.check_event():
        event = loader.get_event()
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.DocumentStartEvent):
            documents += 1
            if documents > 1:
                raise Fault(line, "yaml-documents")
        elif isinstance(event, yaml.AliasEvent):
            raise Fault(line, "yaml-alias", name=event.anchor or "")
        elif isinstance(event, yaml.ScalarEvent):
            _refuse_tag(event.tag, line)
            if builder.awaits_key:
                builder.key(event.value, line)
            else:
                plain = event.implicit[0] and event.style in (None, "")
                builder.add(Node(line, _scalar(event.value, line) if plain else event.value))
        elif isinstance(event, yaml.CollectionStartEvent):
            _refuse_tag(event.tag, line)
            if builder.awaits_key:
                raise Fault(line, "yaml-key")
            builder.open(Node(line, {} if isinstance(event, yaml.MappingStartEvent) else []))
        elif isinstance(event, yaml.CollectionEndEvent):
            builder.close()
    return builder.root or Node(1, None)


def _refuse_tag(tag: str | None, line: int) -> None:
    if tag is not None:
        raise Fault(line, "yaml-tag", tag=tag)


def _scalar(text: str, line: int) -> str | int | float | bool | None:
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if not _FLOAT.match(text):
        return text
    if len(text) > MAX_DIGITS:
        raise Fault(line, "number-large")
    value = int(text) if _INTEGER.match(text) else float(text)
    if math.isinf(value):
        raise Fault(line, "number-large")
    return value


def _line_of_bad_character(text: str) -> int:
    """The parsers give the offset in different units; the first character that YAML forbids is found again."""
    found = yaml.reader.Reader.NON_PRINTABLE.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 1
