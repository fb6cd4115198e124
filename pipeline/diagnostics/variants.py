"""Which variants each diagnostic has and which arguments each takes: the contract between stages and messages.

`tests/diagnostics` proves that the templates of every language have exactly these blanks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Kind = Literal["text", "number", "texts"]
"""`str`, `int`, `tuple[str, ...]`."""

Arguments: TypeAlias = Mapping[str, Kind]

_WRITTEN: Final[Arguments] = {"written": "text"}
_SIZES: Final[Arguments] = {"size": "number", "limit": "number"}
_ITEM: Final[Arguments] = {"item": "text", "declaration": "text"}
_CATEGORY: Final[Arguments] = {**_ITEM, "tool": "text", "category": "text"}
_OPTION: Final[Arguments] = {**_ITEM, "tool": "text", "option": "text", "options": "texts"}
_MENTION: Final[Arguments] = {"tool": "text", "example": "text"}
_ARGUMENT: Final[Arguments] = {**_WRITTEN, "operation": "text", "argument": "text"}
_PLACEHOLDER: Final[Arguments] = {**_WRITTEN, "placeholder": "text"}
_REJECTED: Final[Arguments] = {"detail": "text", "attempts": "number"}
_DRIFT: Final[Arguments] = {
    "tool": "text",
    "operation": "text",
    "change": "text",
    "names": "texts",
    "target": "text",
}
_REASONS: Final[Arguments] = {"reasons": "texts"}

VARIANTS: Final[Mapping[str, Mapping[str, Arguments]]] = {
    "fence-unclosed": {"": {}},
    "document-unreadable": {"encoding": {}, "nul": {}, "empty": {}},
    "document-too-large": {"": _SIZES, "expanded": _SIZES},
    "phase-number-duplicate": {"": {"number": "number"}},
    "phase-number-order": {"": {"number": "number", "previous": "number"}},
    "declaration-in-code": {"code-span": _WRITTEN, "indented-code": _WRITTEN, "html": _WRITTEN},
    "declaration-lookalike": {name: {**_WRITTEN, "right": "text"} for name in ("brackets", "bare", "colon", "verb")},
    "declaration-unclosed": {"tool": _WRITTEN, "call": _WRITTEN, "handover": _WRITTEN},
    "tool-unreadable": {"": _ITEM, "empty": {"declaration": "text"}},
    "tool-unknown": {"": {**_ITEM, "name": "text"}},
    "category-unknown": {"": _CATEGORY},
    "category-not-supported": {"": _CATEGORY},
    "none-with-tools": {"": {"declaration": "text"}},
    "option-unreadable": {
        "": _OPTION,
        "empty": _OPTION,
        "repeated": _OPTION,
        "read-only": _OPTION,
        "read-only-category": _CATEGORY,
        "read-only-unsupported": {**_ITEM, "tool": "text"},
    },
    "tool-mentioned-undeclared": {"": _MENTION, "single": _MENTION},
    "declaration-outside-phase": {"": _WRITTEN, "list": _WRITTEN, "call": _WRITTEN},
    "handover-unreadable": {"": _WRITTEN},
    "handover-tool-unreadable": {"": {**_WRITTEN, "item": "text"}},
    "handover-not-mcp": {"": {**_WRITTEN, "tool": "text"}},
    "handover-several-tools": {"": {**_WRITTEN, "tools": "texts"}},
    "handover-mixed-read-only": {"": _WRITTEN},
    "handover-ambiguous-operation": {"": {**_WRITTEN, "tool": "text", "operations": "texts"}},
    "handover-no-receiver": {"": {**_WRITTEN, "tool": "text", "language": "text"}},
    "handover-argument-missing": {
        "": _ARGUMENT,
        "several": {**_ARGUMENT, "values": "texts"},
        "refused": {**_ARGUMENT, "values": "texts"},
    },
    "placeholder-empty": {"": _WRITTEN},
    "placeholder-duplicate": {"": _PLACEHOLDER},
    "placeholder-missing": {"": _PLACEHOLDER},
    "placeholder-overlapped": {"": _PLACEHOLDER},
    "handover-fence-blank": {"": _WRITTEN},
    "handover-stacked": {"": _WRITTEN},
    "handover-outside-phase": {"": _WRITTEN},
    "handover-in-call-phase": {"": _WRITTEN},
    "handover-detached": {"": _WRITTEN},
    "fence-unreachable": {"call-phase": {}, "no-agent": {}},
    "fence-lost": {"": _REJECTED},
    "fence-stale": {"": _REASONS},
    "tools-mismatch": {"": _REJECTED},
    "artifact-stale": {"": _REASONS},
    "tool-drifted": dict.fromkeys(("", "approve", "block"), _DRIFT),
    "call-unknown": {"": {"target": "text"}, "nameless": {}, "several": {"target": "text", "paths": "texts"}},
    "call-cycle": {"": {"path": "texts"}},
    "call-with-tools": {"": _WRITTEN},
    "call-several": {"": _WRITTEN},
}
