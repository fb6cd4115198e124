"""The official JSON-Schema-Test-Suite's cases of draft 2020-12 that apply to a tool's schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from catalog.nodes import Json

FOLDER = Path(__file__).parents[1] / "data" / "json-schema-test-suite" / "draft2020-12"

NOT_APPLICABLE = {
    # They declare vocabularies by a meta-schema of their own, which a tool's schema cannot bring along.
    "vocabulary.json",
    "optional/format-assertion.json",
}


class Case(NamedTuple):
    """`tests`: values, and whether the schema allows them."""

    name: str
    schema: dict[str, Json]
    tests: tuple[tuple[Json, bool], ...]


def cases() -> Iterator[Case]:
    """Those whose schema is an object."""
    for file in sorted(FOLDER.rglob("*.json")):
        name = file.relative_to(FOLDER).as_posix()
        if name in NOT_APPLICABLE:
            continue
        for case in json.loads(file.read_text(encoding="utf-8")):
            if isinstance(case["schema"], dict):
                tests = tuple((test["data"], test["valid"]) for test in case["tests"])
                yield Case(f"{name}: {case['description']}", case["schema"], tests)
