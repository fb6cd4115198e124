"""Items are looked up once for all documents of a compile; each document records what it would record alone (R1)."""

from __future__ import annotations

import pytest

from catalog.load import load_catalog
from pipeline.incremental.lookups import ItemLookups
from pipeline.incremental.reads import Inquiry, Reads, Recorder
from pipeline.project import Project
from pipeline.stages.parse import parse
from pipeline.stages.resolve import ResolveOutcome, resolve

CATALOG = load_catalog()


def resolved(inquiry: Inquiry, *declarations: str, lookups: bool = True) -> tuple[ResolveOutcome, Reads]:
    phases = [f"## フェーズ {n}: 一 ({text})\n\n文。\n" for n, text in enumerate(declarations, 1)]
    parsed = parse("\n".join(phases).encode(), "x", 1 << 20).artifact
    assert parsed is not None
    recorder = Recorder(inquiry)
    reader = [ItemLookups(inquiry, recorder.catalog).read_item] if lookups else []
    outcome = resolve(parsed, recorder.catalog, recorder.project, "x.md", *reader)
    return outcome, recorder.reads(parsed)


@pytest.mark.parametrize(
    "declaration",
    [
        "使う道具: slack",
        "使う道具: slack の notify, exa の web (read-only)",
        "使う道具: slack の notify (read-only), slack の notify (read-only)",
        "使う道具: なし",
        "使う道具: slakc, slack の nothing, slack (色: 青), exa",
        "使う道具: , slack の",
    ],
)
def test_a_second_document_records_what_it_would_alone(declaration: str) -> None:
    inquiry = Inquiry(CATALOG, Project(()))
    alone = resolved(Inquiry(CATALOG, Project(())), declaration, "使う道具: exa", declaration, lookups=False)
    resolved(inquiry, "使う道具: exa", declaration)
    for _ in range(2):
        assert resolved(inquiry, declaration, "使う道具: exa", declaration) == alone
