"""A project's own catalog files, which lie in the folder that the command is run in, beside `.aop/` and `build/`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

ORGANISATION: Final = "aop-catalog.yaml"
"""The organisation's file, where none is named."""

LOCK_FILE: Final = "aop.lock"
"""What the operations in use looked like when somebody last looked at them: `catalog.lock`."""

IMPORTED: Final = "aop-tools"
"""The folder of what `aop catalog import` stored: one file a server."""

SERVERS: Final = "mcp.json"
"""Where a service finds the servers whose lists are in IMPORTED; a command is told with `--mcp-config`."""


class Own(NamedTuple):
    """The files above the shipped catalog, from below: see `catalog.layers`."""

    imported: tuple[Path, ...] = ()
    organisation: tuple[Path, ...] = ()


def find_own(folder: Path, organisation: Sequence[Path] | None = None) -> Own:
    """Those of `folder`. `organisation`: the organisation's files as named, in place of the one that lies there."""
    if organisation is None:
        file = folder / ORGANISATION
        organisation = (file,) if os.path.lexists(file) else ()
    imported = sorted(path for path in (folder / IMPORTED).glob("*.yaml") if not path.name.startswith("."))
    return Own(tuple(imported), tuple(organisation))
