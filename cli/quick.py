"""The command lines of `aop compile` and `aop check` that leave no question, read without typer.

Importing typer and letting it build its parser takes longer than checking a document. This reader takes only what typer
would read in the same way, and leaves everything else to it (help, completion, mistakes): it can refuse, never differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from cli.arguments import Words

Command = Literal["compile", "check"]

_VALUES: Final = frozenset(
    {"out", "catalog", "org", "mcp_config", "format", "lang", "reuse", "max_bytes", "jobs", "store", "color"}
)
_FLAGS: Final = frozenset({"strict", "watch"})


def read_words(arguments: Sequence[str]) -> tuple[Command, Words] | None:
    """The command and its words; None where typer must read them."""
    command: Command
    match arguments[:1]:
        case ["compile"]:
            command = "compile"
        case ["check"]:
            command = "check"
        case _:
            return None
    documents: list[str] = []
    lists: dict[str, list[str]] = {"catalog": [], "org": []}
    values: dict[str, str] = {}
    flags: dict[str, bool] = {}
    rest = iter(arguments[1:])
    for word in rest:
        if word == "--":
            documents += rest
        elif word == "-" or not word.startswith("-"):
            documents.append(word)
        else:
            written, equals, value = word.partition("=")
            name = written[2:].replace("-", "_")
            if not written.startswith("--") or "_" in written:
                return None
            if name in _FLAGS and not equals:
                flags[name] = True
            elif name in _VALUES:
                found = value if equals else next(rest, None)
                # A value that looks like an option is one that was forgotten; typer says so.
                if found is None or (not equals and found.startswith("-") and found != "-"):
                    return None
                if name in lists:
                    lists[name].append(found)
                else:
                    values[name] = found
            else:
                return None
    if not documents:
        return None
    return command, Words(
        documents=tuple(documents),
        out=values.get("out"),
        catalog=tuple(lists["catalog"]),
        org=tuple(lists["org"]),
        mcp_config=values.get("mcp_config"),
        format=values.get("format"),
        lang=values.get("lang"),
        reuse=values.get("reuse"),
        strict=flags.get("strict", False),
        watch=flags.get("watch", False),
        max_bytes=values.get("max_bytes"),
        jobs=values.get("jobs"),
        store=values.get("store"),
        color=values.get("color"),
    )
