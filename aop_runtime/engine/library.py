"""Where the compiled procedures lie that a procedure may call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from aop_runtime.runs.folder import RunFault

_MOST: Final = 100_000


def compiled_folder(library: Path, name: str) -> Path:
    """The folder below `library`, an output folder of `aop compile`, of the procedure `name`. Raises RunFault."""
    found: list[Path] = []
    for number, manifest in enumerate(sorted(library.rglob("manifest.json"))):
        if number >= _MOST:
            break
        if _document(manifest).get("name") == name:
            found.append(manifest.parent)
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(str(path) for path in found[:5])
        raise RunFault("run.several", name=name, listed=listed)
    raise RunFault("run.not-compiled", library=str(library), name=name)


def _document(manifest: Path) -> dict[str, object]:
    """What a manifest says of its document; {} where it is none."""
    try:
        found = json.loads(manifest.read_bytes())["document"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def by_document(library: Path, document_sha256: str) -> Path:
    """The folder below `library` of the document with these bytes. Raises RunFault."""
    for number, manifest in enumerate(sorted(library.rglob("manifest.json"))):
        if number >= _MOST:
            break
        if _document(manifest).get("sha256") == document_sha256:
            return manifest.parent
    raise RunFault("run.no-document", library=str(library))
