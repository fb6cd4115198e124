"""Probes as files: a process touches one while it is well, and whoever asks looks how old it is.

Cheaper and truer than a request to the process: a worker whose loop hangs touches nothing.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

ALIVE: Final = "alive"
READY: Final = "ready"


class Probe:
    """One file. None for a folder: nobody asks, nothing is written."""

    def __init__(self, folder: Path | None, name: str) -> None:
        self._path = None if folder is None else folder / name
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def touch(self) -> None:
        """Raises OSError."""
        if self._path is not None:
            self._path.touch()

    def clear(self) -> None:
        """The process is not well, or ends."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def age_s(folder: Path, name: str) -> float | None:
    """Seconds since it was touched; None where it never was, or is not well."""
    try:
        return max(0.0, time.time() - (folder / name).stat().st_mtime)
    except OSError:
        return None
