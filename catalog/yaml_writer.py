"""YAML that `catalog.yaml_reader` reads back as it was, and that a person can review line by line.

PyYAML writes for YAML 1.1, where `1e3` and `08` are strings; read by the core schema of 1.2 they are numbers. So every
string is quoted that is not a plain word.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from catalog.nodes import Json

_WORD = re.compile(r"[A-Za-z_$][A-Za-z0-9_$./-]*(?: [A-Za-z_$][A-Za-z0-9_$./-]*)*\Z")
_CONSTANT = re.compile(r"(?:true|false|null|yes|no|on|off|y|n)\Z", re.IGNORECASE)
_UNSEEN = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164]"
)
_WIDTH = 120


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ANN401 — as PyYAML declares it
        """The reader takes none."""
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        """Lists are indented below their key."""
        super().increase_indent(flow, False)


def _string(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style: str | None = '"'
    if _WORD.match(text) and not _CONSTANT.match(text):
        style = None
    elif "\n" in text and "\t" not in text and not _UNSEEN.search(text):
        # PyYAML falls back to double quotes where a block cannot hold the text (blanks at a line's end).
        style = "|"
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _string)


def write_yaml(value: Json) -> str:
    """Keys in their order, one entry a line; what a reviewer could not see is written as an escape."""
    written: str = yaml.dump(value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=_WIDTH)
    # They stand in double quotes only, where escapes mean something; PyYAML writes most of them as they are.
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", written)
