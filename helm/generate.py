"""Writes the chart's values.schema.json, values.yaml and the table of its README from values.schema.yaml.

One source, so that description, default and schema of a value cannot differ. `--check`: say what is not up to date.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

HERE: Final = Path(__file__).parent
CHART: Final = HERE / "aop"
MARK: Final = ("<!-- values -->", "<!-- /values -->")

Node: TypeAlias = Mapping[str, Any]
"""What YAML holds may be anything; `_schema` reads the keys that the source's head names."""

_TYPES: Final = {bool: "boolean", int: "integer", str: "string", list: "array", dict: "object"}
_OURS: Final = frozenset({"d", "v", "of", "each", "free", "items", "required"})


def schema(source: Node) -> dict[str, Any]:
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "additionalProperties": False,
        # Helm puts `global` there itself.
        "properties": {"global": {"type": "object"}, **{name: _schema(node) for name, node in source.items()}},
    }


def _schema(node: Node) -> dict[str, Any]:
    found: dict[str, Any] = {key: value for key, value in node.items() if key not in _OURS}
    found["description"] = node["d"]
    if "of" in node:
        found |= {
            "type": "object",
            "additionalProperties": False,
            "properties": {name: _schema(member) for name, member in node["of"].items()},
        }
        if "required" in node:
            found["required"] = node["required"]
        return found
    if "v" in node:
        found.setdefault("type", _TYPES[type(node["v"])])
        found["default"] = node["v"]
    if "each" in node:
        each = node["each"]
        found["additionalProperties"] = _schema(each) if "d" in each else each
    if "items" in node:
        found["items"] = node["items"]
    return found


def values(source: Node) -> str:
    lines = ["# Written by `make chart` from helm/values.schema.yaml.", ""]
    for name, node in source.items():
        lines += [*_values(name, node, 0), ""]
    return "\n".join(lines)


def _values(name: str, node: Node, depth: int) -> Iterator[str]:
    indent = "  " * depth
    yield f"{indent}# {node['d']}"
    if "of" in node:
        yield f"{indent}{name}:"
        for member, inner in node["of"].items():
            yield from _values(member, inner, depth + 1)
        return
    value = node["v"]
    if isinstance(value, dict | list) and value:
        yield f"{indent}{name}:"
        text = yaml.safe_dump(value, sort_keys=False, default_flow_style=False, allow_unicode=True)
        yield from (f"{indent}  {line}" for line in text.splitlines())
    else:
        yield f"{indent}{name}: {json.dumps(value, ensure_ascii=False)}"


def rows(source: Node, prefix: str = "") -> Iterator[tuple[str, str, str]]:
    """Path, default, description of each value."""
    for name, node in source.items():
        path = f"{prefix}{name}"
        if "of" in node:
            yield from rows(node["of"], f"{path}.")
            continue
        if "v" in node:
            yield path, json.dumps(node["v"], ensure_ascii=False), node["d"]
        if "of" in node.get("each", {}):
            for member, inner in node["each"]["of"].items():
                yield f"{path}.*.{member}", "", inner["d"]


def table(source: Node) -> str:
    def cell(text: str) -> str:
        return text.replace("|", "\\|")

    lines = ["| value | default | |", "|---|---|---|"]
    for path, default, description in rows(source):
        short = default if len(default) <= 60 else "see values.yaml"
        lines.append(f"| `{path}` | {f'`{cell(short)}`' if short else ''} | {cell(description)} |")
    return "\n".join(lines)


def files() -> dict[Path, str]:
    source = yaml.safe_load((HERE / "values.schema.yaml").read_text(encoding="utf-8"))
    readme = (CHART / "README.md").read_text(encoding="utf-8")
    before, rest = readme.split(MARK[0])
    after = rest.split(MARK[1])[1]
    return {
        CHART / "values.schema.json": json.dumps(schema(source), ensure_ascii=False, indent=2) + "\n",
        CHART / "values.yaml": values(source),
        CHART / "README.md": f"{before}{MARK[0]}\n{table(source)}\n{MARK[1]}{after}",
    }


def main(arguments: list[str]) -> int:
    written = files()
    if arguments == ["--check"]:
        now = {path: path.read_text(encoding="utf-8") if path.exists() else None for path in written}
        stale = [path for path, text in written.items() if now[path] != text]
        for path in stale:
            sys.stderr.write(f"{path.relative_to(HERE.parent)} is not up to date: run `make chart`\n")
        return 1 if stale else 0
    for path, text in written.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
