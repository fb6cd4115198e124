"""Reading the cases."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parent
CATALOG = FOLDER / "catalog.yaml"
MCP_CONFIG = FOLDER / "mcp.json"


@dataclass(frozen=True)
class Case:
    """One document and what compiling it must show."""

    id: str
    data: bytes
    filename: str
    expect: dict[str, Any]
    siblings: dict[str, str] = field(default_factory=dict)

    def write(self, folder: Path) -> str:
        """Put the documents there; what is to be compiled: the document's path, or the folder's."""
        (folder / self.filename).write_bytes(self.data)
        for name, text in self.siblings.items():
            (folder / name).write_text(text, encoding="utf-8")
        return str(folder if self.siblings else folder / self.filename)


def all_cases() -> list[Case]:
    """In the order of the files and within them."""
    files = sorted(file for file in FOLDER.glob("*.yaml") if file != CATALOG)
    return [_case(entry) for file in files for entry in yaml.safe_load(file.read_text(encoding="utf-8"))]


def _case(entry: dict[str, Any]) -> Case:
    encoded = entry.get("document_base64")
    data = entry["document"].encode("utf-8") if encoded is None else base64.b64decode(encoded)
    return Case(
        entry["id"], data, entry.get("filename", "document.md"), entry["expect"], dict(entry.get("siblings") or {})
    )
