"""Suggestions in a document that is all mistakes: the first ones have them, and every mistake is reported."""

from __future__ import annotations

from catalog.load import load_catalog
from catalog.model import Tool
from pipeline.project import Project
from pipeline.resolution.sparing import Allowance, SparingCatalog
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve


def test_an_allowance_is_for_different_questions() -> None:
    """What was asked before may be asked again, also when nothing new may."""
    allowance = Allowance(2)
    assert [allowance.covers(word) for word in ("a", "b", "c", "a", "b", "c")] == [True, True, False, True, True, False]


def test_the_catalog_suggests_until_the_allowance_is_used_up() -> None:
    """Tools and categories share it; what needs no search is answered always."""
    catalog = load_catalog()
    tool = catalog.tool("google_workspace")
    assert tool is not None
    sparing = SparingCatalog(catalog, Allowance(2))
    assert sparing.suggest_tools("slakc", None) == catalog.suggest_tools("slakc", None) == ("slack",)
    assert sparing.suggest_categories(tool, "drvie") == catalog.suggest_categories(tool, "drvie") != ()
    assert sparing.suggest_tools("githbu", None) == ()
    assert sparing.suggest_tools("slakc", None) == ("slack",)
    assert sparing.tool("github") == catalog.tool("github")


class Asked(SparingCatalog):
    """Counts the names that are looked up."""

    def __init__(self) -> None:
        super().__init__(load_catalog(), Allowance(10))
        self.names: list[str] = []

    def tool(self, name: str) -> Tool | None:
        self.names.append(name)
        return super().tool(name)


def test_equal_declarations_are_looked_up_once() -> None:
    """However many a section has of them; each item has its finding."""
    catalog = Asked()
    parsed = parse("(使う道具: slakc, githbu)\n\n".encode() * 500, "t")
    assert parsed.artifact is not None
    findings = resolve(parsed.artifact, catalog, Project(()), "t.md").findings
    assert len(findings) == 1000
    assert catalog.names == ["slakc", "githbu"]


def test_every_mistake_is_reported() -> None:
    """Those beyond the allowance, too, with their place and no suggestion."""
    count = 10_050
    items = "、".join(f"github{number}" for number in range(count))
    parsed = parse(f"# t\n\n## フェーズ 1: a (使う道具: {items})\n\nx\n".encode(), "t")
    assert parsed.artifact is not None
    findings = resolve(parsed.artifact, load_catalog(), Project(()), "t.md").findings
    assert len(findings) == count
    assert findings[0].suggestions == ("github",)
    assert findings[-1].suggestions == ()
    assert len({finding.at for finding in findings}) == count
