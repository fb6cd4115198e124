"""What the standard tools say to models: templates in text files beside this module."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template


@cache
def text(name: str) -> Template:
    """`NAME.txt` of this folder, without its last line end."""
    path = Path(__file__).with_name(f"{name}.txt")
    return Template(path.read_text(encoding="utf-8").removesuffix("\n"))
