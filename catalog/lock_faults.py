"""Where a lock file is wrong: read again with lines."""

from __future__ import annotations

from pathlib import Path

from catalog.errors import CatalogError
from catalog.json_reader import read_json
from catalog.lock import Wrong
from catalog.nodes import Fault


def fault_in(path: Path, content: bytes, wrong: Wrong | None) -> CatalogError:
    """`wrong`: what is known; None: it is no JSON, or holds what JSON has not."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return CatalogError(str(path), content.count(b"\n", 0, error.start) + 1, "not-utf8")
    try:
        node = read_json(text)
    except Fault as fault:
        return CatalogError(str(path), fault.line, fault.reason, **fault.arguments)
    if wrong is None:
        return CatalogError(str(path), None, "json-syntax", detail="a value that JSON has not")
    line = node.line
    for key in wrong.at:
        if not isinstance(node.value, dict) or key not in node.value:
            break
        line = (node.key_lines or {})[key]
        node = node.value[key]
    return CatalogError(str(path), line, wrong.reason, **wrong.arguments)
