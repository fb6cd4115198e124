"""Whether a tool changes anything, as far as its definition and name tell."""

from __future__ import annotations

from typing import Final

from catalog.lint.tools import Tool
from catalog.lint.words import AMBIGUOUS, DANGEROUS, EXECUTING, READING, WRITING, verb_of, words

_JOINING: Final = frozenset({"and", "or", "then"})


def verbs(tool: Tool) -> tuple[str, ...]:
    """Of its name: one, or one for each of the parts that `and` or `or` joins."""
    parts: list[list[str]] = [[]]
    for word in words(tool.name):
        if word in _JOINING:
            parts.append([])
        else:
            parts[-1].append(word)
    # A part that is only a verb borrows what it is done to from the next one.
    found = (
        [verb_of((*part, "it") if len(part) == 1 else tuple(part)) for part in parts]
        if len(parts) > 1
        else [verb_of(tuple(parts[0]))]
    )
    return tuple(verb for verb in found if verb is not None)


def writes(tool: Tool) -> bool:
    """What it declares counts (a catalog's effect, MCP's readOnlyHint), else its verbs; without one that only reads, it
    may change something."""
    declared = declared_to_write(tool)
    if declared is not None:
        return declared
    found = verbs(tool)
    return not found or any(verb not in READING for verb in found)


def declared_to_write(tool: Tool) -> bool | None:
    """None where it declares nothing."""
    if tool.form == "catalog":
        return tool.definition.get("effect") != "read"
    hint = tool.annotations.get("readOnlyHint")
    return not hint if isinstance(hint, bool) else None


def writing_verb(tool: Tool) -> str | None:
    """A verb of its name that can only mean a change."""
    return next((verb for verb in verbs(tool) if verb in WRITING and verb not in READING | AMBIGUOUS), None)


def dangerous_verb(tool: Tool) -> str | None:
    """A verb of its name whose change others notice, costs, or cannot be taken back."""
    return next((verb for verb in verbs(tool) if verb in DANGEROUS), None)


def executes(tool: Tool) -> bool:
    return any(word in EXECUTING for word in words(tool.name))
