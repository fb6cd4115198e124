"""Where the compiled procedures lie that a procedure may call."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from aop_runtime.runs.folder import RunFault

_MOST: Final = 100_000


def compiled_folder(library: Path, name: str) -> Path:
    """The folder below `library`, an output folder of `aop compile`, of the procedure `name`. Raises RunFault."""
    found = list(_folders(library, "name", name))
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(str(path) for path in found[:5])
        raise RunFault("run.several", name=name, listed=listed)
    raise RunFault("run.not-compiled", library=str(library), name=name)


def by_document(library: Path, document_sha256: str) -> Path:
    """The folder below `library` of the document with these bytes. Raises RunFault."""
    for folder in _folders(library, "sha256", document_sha256):
        return folder
    raise RunFault("run.no-document", library=str(library))


def _folders(library: Path, field: str, wanted: str) -> Iterator[Path]:
    """Of the procedures whose manifest says so of their document, in the order of their names."""
    for folder in islice(_walk(library), _MOST):
        if _document(folder / "manifest.json").get(field) == wanted:
            yield folder


def _walk(library: Path) -> Iterator[Path]:
    """All folders, but for hidden ones: in `.aop` the records of runs hold copies of what was run."""
    for folder, below, _ in os.walk(library):
        below[:] = sorted(name for name in below if not name.startswith("."))
        yield Path(folder)


def _document(manifest: Path) -> dict[str, object]:
    """What a manifest says of its document; {} where it is none."""
    try:
        found = json.loads(manifest.read_bytes())["document"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
