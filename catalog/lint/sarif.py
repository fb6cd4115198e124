"""A report as a SARIF 2.1.0 log, for code scanning and editors.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import quote

from catalog.errors import Language
from catalog.lint.pointer import to_text
from catalog.lint.reading import Input
from catalog.lint.report import Report, failing, severity
from catalog.lint.rule import Finding, Rule
from catalog.nodes import Json

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def render(report: Report, given: Input, name: str, lang: Language, *, strict: bool, version: str) -> str:
    """`version`: ours. `name`: the file's path, or `-`."""
    places = given.lines(finding.path for finding in report.findings)
    rules = sorted({finding.rule.id: finding.rule for finding in report.findings}.items())
    index = {rule_id: number for number, (rule_id, _) in enumerate(rules)}
    results: list[Json] = [
        {
            "ruleId": finding.rule.id,
            "ruleIndex": index[finding.rule.id],
            "level": severity(finding, strict=strict),
            "message": {"text": _plain(f"{finding.message(lang)}\n{finding.help(lang)}")},
            "locations": [_location(finding, places.get(finding.path), name)],
        }
        for finding in report.findings
    ]
    driver: Json = {
        "name": "aop catalog lint",
        "version": version,
        "language": lang,
        "rules": [_rule(rule, lang, strict=strict) for _, rule in rules],
    }
    run: Json = {"tool": {"driver": driver}, "language": lang, "columnKind": "unicodeCodePoints", "results": results}
    log: Json = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return f"{json.dumps(log, ensure_ascii=False)}\n"


def _location(finding: Finding, line: int | None, name: str) -> Json:
    place: dict[str, Json] = {"artifactLocation": {"uri": _uri(name)}}
    if line is not None:
        place["region"] = {"startLine": line}
    pointer = to_text(finding.path)
    return {"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": pointer, "kind": "member"}]}


def _rule(rule: Rule, lang: Language, *, strict: bool) -> Json:
    level = "error" if rule.level in failing(strict=strict) else "warning"
    return {
        "id": rule.id,
        "name": rule.name,
        "defaultConfiguration": {"level": level},
        "properties": {"kind": rule.level},
    }


def _plain(text: str) -> str:
    """Braces are no placeholders (3.11.5), and brackets no link (3.11.6)."""
    return text.replace("{", "{{").replace("}", "}}").replace("](", "] (")


def _uri(name: str) -> str:
    encoded = quote(name.encode("utf-8", "surrogateescape"))
    return f"file://{encoded}" if name.startswith("/") else encoded
