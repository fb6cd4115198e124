"""Deno, started with no right at all but one Unix socket, which it gives back before a script is loaded."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from aop_runtime.messages import Message, Worded

BOX: Final = Path(__file__).with_name("box")
ENTRY: Final = "entry.js"
CLIENT: Final = "client.js"
SCRIPT: Final = "fence.ts"
SOCKET: Final = "socket"


class Missing(Worded):
    """There is no Deno that can be used. The message says what to do."""


@cache
def program() -> str:
    """The path of the package's own Deno; none that lies about elsewhere. Raises Missing."""
    try:
        # It has no types.
        package = import_module("deno")
    except ImportError as error:
        raise Missing(Message("deno.not-installed")) from error
    try:
        return str(Path(package.find_deno_bin()).resolve())
    except OSError as error:
        raise Missing(Message("deno.no-program")) from error


def arguments(folder: str, heap_mib: int) -> tuple[str, ...]:
    """Of Deno, where entry, client, script and socket lie in `folder`. Raises Missing."""
    if "," in folder:
        raise Missing(Message("deno.comma"))

    def path(name: str) -> str:
        return f"{folder}/{name}"

    return (
        "run",
        "--quiet",
        "--no-prompt",
        "--no-config",
        "--no-lock",
        "--no-check",
        "--no-remote",
        "--no-npm",
        "--cached-only",
        "--no-code-cache",
        "--node-modules-dir=none",
        "--deny-import",
        f"--v8-flags=--max-old-space-size={heap_mib}",
        f"--allow-read={path(SCRIPT)},{path(CLIENT)},{path(SOCKET)}",
        # Connecting to a Unix socket asks for all three.
        f"--allow-write={path(SOCKET)}",
        f"--allow-net=unix:{path(SOCKET)}",
        f"{folder}/{ENTRY}",
    )


ENVIRONMENT: Final = {
    # Not a folder, so that there is no store: scripts could fill it by `caches` and `localStorage`.
    "DENO_DIR": "/dev/null/none",
    # It would try for 0.15 s to store what TypeScript became.
    "DENO_EMIT_CACHE_MODE": "disable",
    "DENO_NO_UPDATE_CHECK": "1",
    "HOME": "/",
    "NO_COLOR": "1",
}
