"""Which operations of a browser's MCP server each granted word allows. What is not in it does not exist for a phase.

Left out on purpose: what runs scripts (`browser_evaluate`, `browser_run_code_unsafe`), opens files of this machine
(`browser_file_upload`, `browser_drop`), changes cookies, storage or the network, and what a page offers as tools.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from aop_runtime.plane.spec import Effect

READ: Final = "read"
NAVIGATION: Final = "navigation"
INTERACT: Final = "interact"

OPERATIONS: Final[dict[str, str]] = {
    "browser_snapshot": READ,
    "browser_find": READ,
    "browser_take_screenshot": READ,
    "browser_console_messages": READ,
    "browser_network_requests": READ,
    "browser_wait_for": READ,
    "browser_navigate": NAVIGATION,
    "browser_navigate_back": NAVIGATION,
    "browser_tabs": NAVIGATION,
    "browser_resize": NAVIGATION,
    "browser_close": NAVIGATION,
    "browser_click": INTERACT,
    "browser_type": INTERACT,
    "browser_fill_form": INTERACT,
    "browser_press_key": INTERACT,
    "browser_select_option": INTERACT,
    "browser_hover": INTERACT,
    "browser_drag": INTERACT,
    "browser_handle_dialog": INTERACT,
}
"""Granted word by operation of `@playwright/mcp`."""

ADDRESSES: Final[dict[str, str]] = {"browser_navigate": "url", "browser_tabs": "url"}
"""The arguments that hold an address."""

FILES: Final = ("filename",)
"""Arguments that name files of this machine: not offered."""


def granted(words: Collection[str], *, read_only: bool) -> list[str]:
    """The operations that these words allow."""
    return [name for name, word in OPERATIONS.items() if word in words and not (read_only and effect(name) == "write")]


def effect(operation: str) -> Effect:
    """Only interacting writes: moving about asks for pages."""
    return "write" if OPERATIONS[operation] == INTERACT else "read"
