"""What a compiled procedure imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aop_runtime.declarations import DeclarationError, Handover, Http, Mcp, Phase, Procedure, Standard

__all__ = ["DeclarationError", "Handover", "Http", "Mcp", "Phase", "Procedure", "Standard"]


def __getattr__(name: str) -> object:
    """Who imports any module of this package imports the package, and seldom for these: they come when asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from aop_runtime import declarations  # noqa: PLC0415 - see above

    return getattr(declarations, name)
