"""Which operations of a browser's MCP server each granted word allows. What is not in it does not exist for a phase.

Left out on purpose: what runs scripts (`browser_evaluate`, `browser_run_code_unsafe`), opens files of this machine
(`browser_file_upload`, `browser_drop`), changes cookies, storage or the network, and what a page offers as tools.
"""

from __future__ import annotations

from typing import Final

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
"""Granted word by operation of `@playwright/mcp`. Only interacting writes: moving about asks for pages."""

ADDRESSES: Final[dict[str, str]] = {"browser_navigate": "url", "browser_tabs": "url"}
"""The arguments that hold an address."""

FILES: Final = ("filename",)
"""Arguments that name files of this machine: not offered."""
