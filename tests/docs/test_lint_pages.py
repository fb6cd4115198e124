"""The lint's page: every rule has an example that it finds, and one that passes with --strict."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from catalog.lint.lint import lint_bytes
from catalog.lint.registry import RULES
from catalog.lint.report import Report

from .snippets import ROOT, fences

PAGES = [ROOT / "docs" / "lint.ja.md", ROOT / "docs" / "lint.md"]
KINDS = ("lint-fail", "lint-pass", "arguments-fail", "arguments-pass")


@dataclass(frozen=True)
class Example:
    """`rules`: what linting `content` must find."""

    line: int
    kind: str
    rules: frozenset[str]
    content: bytes


def examples(page: Path) -> list[Example]:
    """In the page's order. Python examples print the input; those of arguments are put into the page's tool."""
    found: list[Example] = []
    tool: dict[str, dict[str, object]] = {}
    for line, words, text in fences(page):
        if words[1:] == ["tool"]:
            tool = json.loads(text)
        if len(words) < 2 or words[1] not in KINDS:
            continue
        content = text.encode()
        if words[0] == "python":
            content = printed(text)
        if words[1].startswith("arguments"):
            schema = {**tool["inputSchema"], "properties": json.loads(text)}
            content = json.dumps({**tool, "inputSchema": schema}).encode()
        found.append(Example(line, words[1], frozenset(words[2:]), content))
    return found


@cache
def printed(program: str) -> bytes:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, timeout=60).stdout


@cache
def linted(content: bytes) -> Report:
    return lint_bytes(content, "example.json")[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_are_found_or_pass_as_the_page_says(page: Path) -> None:
    """Exactly the rules that a failing example names, and nothing at all in a passing one."""
    for example in examples(page):
        report = linted(example.content)
        assert {finding.rule.id for finding in report.findings} == example.rules, f"{page.name}:{example.line}"
        levels = {RULES[rule].level for rule in example.rules}
        assert report.structurally_valid == ("structural" not in levels), f"{page.name}:{example.line}"
        assert report.strict_pass == levels.isdisjoint({"structural", "strict"}), f"{page.name}:{example.line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_rule_has_a_chapter_with_an_example_of_each_kind(page: Path) -> None:
    """In the order of ids, named as they are, with the level that the index gives."""
    text = page.read_text(encoding="utf-8")
    chapters = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    assert [chapter.split("\n")[0] for chapter in chapters] == [f"{rule.id} {rule.name}" for rule in RULES.values()]
    for chapter in chapters:
        rule = RULES[chapter[:6]]
        failing = re.findall(r"^~~~~\w+ (?:lint|arguments)-fail (.*)$", chapter, re.MULTILINE)
        assert [rule.id in ids.split() for ids in failing] == [True], rule.id
        assert len(re.findall(r"^~~~~json (?:lint|arguments)-pass$", chapter, re.MULTILINE)) == 1, rule.id


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_index_says_when_a_rule_is_an_error(page: Path) -> None:
    """Structural rules always, those of the review with --strict, advice never."""
    rows = re.findall(r"^\| \[(TSL\d{3})\]\(#[^)]*\) \| `([a-z-]+)` \| (.*) \|$", page.read_text("utf-8"), re.MULTILINE)
    assert [(rule, name) for rule, name, _ in rows] == [(rule.id, rule.name) for rule in RULES.values()]
    shown = {rule: when for rule, _, when in rows}
    for level in ("structural", "strict", "advice"):
        assert len({shown[rule.id] for rule in RULES.values() if rule.level == level}) == 1
        assert len({rule.level for rule in RULES.values() if shown[rule.id] == shown[_first(level)]}) == 1


def _first(level: str) -> str:
    return next(rule.id for rule in RULES.values() if rule.level == level)


def test_both_languages_show_the_same_examples() -> None:
    """The translations do not drift apart."""
    japanese, english = (
        [(words, text) for _, words, text in fences(page) if len(words) > 1 and words[1] in (*KINDS, "tool")]
        for page in PAGES
    )
    assert japanese == english


@pytest.mark.parametrize(("page", "lang"), list(zip(PAGES, ("ja", "en"), strict=True)), ids=str)
def test_the_shown_result_is_one(page: Path, lang: str) -> None:
    """The result on the page has the shape and the words of the real one."""
    shown = next(json.loads(text) for _, words, text in fences(page) if words == ["json"])
    memo = {"memo": {"type": "string", "description": "メモ"}}
    schema = {"type": "object", "properties": memo, "additionalProperties": False}
    tool = {"name": "get_memo", "description": "メモを 1 件、番号で返す。", "inputSchema": schema}
    report = linted(json.dumps({**tool, "annotations": {"readOnlyHint": True}}).encode())
    assert shown == report.as_dict("en" if lang == "en" else "ja", strict=False)
