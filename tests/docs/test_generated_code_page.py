"""The page about generated code shows the very code that its document becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.load import load_catalog
from pipeline.generators.template import TemplateGenerator
from pipeline.project import Project
from pipeline.stages.generate import units_of
from pipeline.stages.link import link
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

from .snippets import ROOT, fences


@pytest.mark.parametrize("name", ["generated-code.ja.md", "generated-code.md"])
def test_the_shown_module_is_what_the_shown_document_becomes(name: str, tmp_path: Path) -> None:
    """Whoever changes what is generated changes the page."""
    shown = {info[0]: text for _, info, text in fences(ROOT / "docs" / name) if info[1:] == ["generated"]}
    parsed = parse(shown["aop"].encode(), "daily").artifact
    assert parsed is not None
    resolved = resolve(parsed, load_catalog(cache_dir=tmp_path), Project(()), "daily.md").artifact
    generator = TemplateGenerator()
    codes = [None if unit is None else generator.generate(unit, ()) for unit in units_of(parsed, resolved)]
    assert link(parsed, resolved, codes).source == shown["python"]
