"""The exit statuses (section 9), and the two that shells know for an interrupted command."""

from __future__ import annotations

from typing import Final

OK: Final = 0
FAILED: Final = 1
"""Some compile failed (with `--strict`: or warned), or a module did not verify."""
TROUBLE: Final = 2
"""Wrong usage, or something could not be read or written."""
INTERRUPTED: Final = 130
BROKEN_PIPE: Final = 141
"""As if SIGPIPE had ended the command: nobody reads what it prints."""
