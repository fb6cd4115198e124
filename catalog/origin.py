"""A tool's `source` and `server`: where its definition comes from and where it is reached (section 10)."""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import urlsplit

from catalog.checks import fields, filled_text, sequence, text, words, wrong_type
from catalog.model import ToolKind
from catalog.nodes import Fault, Json, Node

_ENVIRONMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def read_source(node: Node, where: str) -> dict[str, Json]:
    """Where names and schemas were taken from. `revision`: a commit or version; `operations`: how many it lists;
    `left_out`: those of them that the file leaves out, for the reason in `note`."""
    entries = fields(node, where, ("url", "date"), ("revision", "operations", "left_out", "note"))
    day = text(entries["date"], f"{where}.date")
    try:
        date.fromisoformat(day)
    except ValueError as error:
        line = entries["date"].line
        raise Fault(line, "value-wrong", where=f"{where}.date", value=day, expected="YYYY-MM-DD") from error
    result: dict[str, Json] = {"url": _url(entries["url"], f"{where}.url"), "date": day}
    if "revision" in entries:
        result["revision"] = filled_text(entries["revision"], f"{where}.revision")
    if "operations" in entries:
        count = entries["operations"]
        if isinstance(count.value, bool) or not isinstance(count.value, int):
            raise wrong_type(count, f"{where}.operations", "integer")
        result["operations"] = count.value
    if "left_out" in entries:
        result["left_out"] = list[Json](words(entries["left_out"], f"{where}.left_out"))
    if "note" in entries:
        result["note"] = filled_text(entries["note"], f"{where}.note")
    return result


def read_server(node: Node, where: str, kind: ToolKind) -> dict[str, Json]:
    """Where the connector is. `credentials`: names of environment variables, never values."""
    entries = fields(node, where, (), ("url", "command", "args", "credentials"))
    if "command" in entries and kind == "http":
        raise Fault((node.key_lines or {})["command"], "not-for-kind", where=where, key="command", kind=kind)
    if "command" in entries and "url" in entries:
        raise Fault(node.line, "server-ambiguous", where=where)
    if "command" not in entries and "url" not in entries:
        raise Fault(node.line, "server-incomplete", where=where)
    result: dict[str, Json] = {}
    if "url" in entries:
        result["url"] = _url(entries["url"], f"{where}.url")
    if "command" in entries:
        result["command"] = filled_text(entries["command"], f"{where}.command")
    if "args" in entries:
        listed = sequence(entries["args"], f"{where}.args")
        result["args"] = [text(entry, f"{where}.args[{index}]") for index, entry in enumerate(listed)]
    if "credentials" in entries:
        for index, entry in enumerate(sequence(entries["credentials"], f"{where}.credentials")):
            variable = text(entry, f"{where}.credentials[{index}]")
            if not _ENVIRONMENT.match(variable):
                place = f"{where}.credentials[{index}]"
                # Not the value: who takes the key for the credential itself has written a secret.
                raise Fault(entry.line, "value-wrong", where=place, value="***", expected="ENVIRONMENT_VARIABLE")
        result["credentials"] = list[Json](words(entries["credentials"], f"{where}.credentials"))
    return result


def _url(node: Node, where: str) -> str:
    url = text(node, where)
    try:
        parts = urlsplit(url)
        credentials = parts.username is not None or parts.password is not None
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and not credentials
    except ValueError:
        usable = False
    if not usable:
        shown = re.sub(r"//[^/]*@", "//***@", url)
        raise Fault(node.line, "value-wrong", where=where, value=shown, expected="https://…")
    return url
