"""The stages and the messages agree: every finding has a registered variant and exactly its arguments."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.load import load_catalog
from catalog.view import CatalogView
from pipeline.diagnostics.codes import CODES
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.variants import VARIANTS, Kind

from .page_reader import Example, findings, read_page
from .test_pages import NOT_BY_A_DOCUMENT

TYPES: dict[Kind, type] = {"text": str, "number": int, "texts": tuple}

BESIDE_THE_PAGES = {
    "document-unreadable, nul": "# x\0",
    "declaration-unclosed, handover": "# x\n\n(この SQL を bigquery に、そのまま渡す\n```ts\n1\n```\n",
    "option-unreadable, empty": "# x\n\n(使う道具: browser (profile: ))\n",
    "option-unreadable, repeated": "# x\n\n(使う道具: browser (profile: a) (profile: b))\n",
    "tool-mentioned-undeclared, single": "# x\n\nslack に投稿する。\n",
    "declaration-outside-phase, list": "# x\n\n## フェーズ 1: する\n\n## 利用可能なツール\n\n- slack の notify\n",
    "declaration-outside-phase, call": "# x\n\n(呼び出す AOP: y)\n\n## フェーズ 1: する\n",
    "fence-unreachable, no-agent": "# x\n\n```\nabc\n```\n\n## フェーズ 1: 呼ぶ (呼び出す AOP: 甲)\n",
    "call-unknown, several": "# x\n\n## フェーズ 1: 呼ぶ (呼び出す AOP: 乙)\n",
}
SIBLINGS = (("a.md", "# 甲\n\nする。\n"), ("b.md", "# 乙\n\nする。\n"), ("c.md", "# 乙\n\nする。\n"))


@pytest.fixture(scope="module")
def found() -> list[Finding]:
    catalog: CatalogView = load_catalog([Path(__file__).parents[1] / "data" / "catalog.yaml"])
    pages = [read_page(entry, "en").wrong for entry in CODES.values()]
    documents = [example for example in pages if example is not None]
    documents += [Example(text, (), siblings=SIBLINGS) for text in BESIDE_THE_PAGES.values()]
    return [finding for example in documents for finding in findings(example, catalog)[0]]


def test_every_finding_keeps_the_contract(found: list[Finding]) -> None:
    """Registered variant, the agreed arguments, each of its type."""
    for finding in found:
        agreed = {name: TYPES[kind] for name, kind in VARIANTS[finding.name][finding.variant].items()}
        assert {name: type(value) for name, value in finding.arguments} == agreed


def test_every_variant_comes_from_some_document(found: list[Finding]) -> None:
    """No message is written for nothing; those of generation and of earlier compiles have their own tests."""
    registered = {(name, variant) for name, variants in VARIANTS.items() for variant in variants}
    never = {(name, variant) for name in NOT_BY_A_DOCUMENT for variant in VARIANTS[name]}
    never |= {("document-unreadable", "encoding")}  # pages are UTF-8
    never |= {("document-too-large", "expanded")}  # found ahead of generating: tests/incremental/test_expansion.py
    assert {(finding.name, finding.variant) for finding in found} == registered - never
