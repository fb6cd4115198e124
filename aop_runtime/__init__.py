"""What a compiled procedure imports."""

from aop_runtime.declarations import DeclarationError, Handover, Http, Mcp, Phase, Procedure, Standard

__all__ = ["DeclarationError", "Handover", "Http", "Mcp", "Phase", "Procedure", "Standard"]
