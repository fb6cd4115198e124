"""`docs/manifest.schema.json` is the shape of every manifest, and names every key that there is."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TypeAlias, cast

import jsonschema
import pytest

from catalog.load import load_catalog
from pipeline.generators.template import TemplateGenerator
from pipeline.manifest import manifest
from pipeline.project import Project
from pipeline.stages.generate import units_of
from pipeline.stages.link import link
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

from .snippets import ROOT

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"

SCHEMA: dict[str, Json] = json.loads((ROOT / "docs" / "manifest.schema.json").read_text(encoding="utf-8"))
EXAMPLES = sorted((ROOT / "examples").glob("*.md"))


def made(path: Path, cache: Path) -> dict[str, Json]:
    """The manifest of one example compiled alone, as JSON."""
    data = path.read_bytes()
    outcome = parse(data, path.stem)
    assert outcome.artifact is not None
    resolved = resolve(outcome.artifact, load_catalog(cache_dir=cache), Project(()), path.name).artifact
    generator = TemplateGenerator()
    units = units_of(outcome.artifact, resolved)
    module = link(
        outcome.artifact, resolved, [None if unit is None else generator.generate(unit, ()) for unit in units]
    )
    digest = sha256(data).hexdigest()
    text = manifest(digest, outcome.artifact, resolved, outcome.positions, module, generator.identity)
    return cast("dict[str, Json]", json.loads(text))


def closed(schema: Json) -> Json:
    """The schema with every object closed: what it must be if it names all keys."""
    if isinstance(schema, list):
        return [closed(entry) for entry in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: closed(value) for key, value in schema.items()}
    return {**inner, "additionalProperties": False} if "required" in schema and "properties" in schema else inner


def test_the_schema_is_one() -> None:
    """It is valid JSON Schema itself."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_manifests_of_the_examples_are_valid_and_fully_described(path: Path, tmp_path: Path) -> None:
    """Nothing required is missing, and no key is without its line in the schema."""
    strict = cast("dict[str, Json]", closed(SCHEMA))
    errors = jsonschema.Draft202012Validator(strict).iter_errors(made(path, tmp_path))
    assert [f"{error.json_path}: {error.message}" for error in errors] == []


def test_the_schema_refuses_what_is_no_manifest(tmp_path: Path) -> None:
    """A missing key, a wrong type and an unknown version are found."""
    good = made(EXAMPLES[0], tmp_path)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    changes: list[dict[str, Json]] = [
        {"version": 2},
        {"fences": None},
        {"document": {}},
        {"source_map": [{"generated": [1], "document": [1, 2]}]},
    ]
    for change in changes:
        assert not validator.is_valid({**good, **change})
    assert not validator.is_valid({key: value for key, value in good.items() if key != "phases"})
