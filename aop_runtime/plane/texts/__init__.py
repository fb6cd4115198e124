"""What the plane says to people and models: templates in text files beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from aop_runtime.plane.spec import ToolSpec


@cache
def template(name: str) -> Template:
    """`NAME.txt` of this folder, without its last line end."""
    path = Path(__file__).with_name(f"{name}.txt")
    return Template(path.read_text(encoding="utf-8").removesuffix("\n"))


def _language(language: str) -> str:
    return "en" if language == "en" else "ja"


def approval_text(spec: ToolSpec, language: str) -> str:
    """Asks for leave to make a call."""
    return template(f"approval.{_language(language)}").substitute(address=spec.address)


def outcome_text(spec: ToolSpec, language: str) -> str:
    """Asks whether a write that was under way was done."""
    return template(f"outcome.{_language(language)}").substitute(address=spec.address)
