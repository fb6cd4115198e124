"""SARIF 2.1.0: valid against the schema, positions in code points, fixes that can be put in place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from pipeline.diagnostics.bind import Diagnostic, bind
from pipeline.diagnostics.codes import BY_CODE
from pipeline.diagnostics.findings import Finding
from pipeline.diagnostics.fixes import Fix, fixes
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.sarif import Checked, plain, render_sarif, uri
from pipeline.diagnostics.variants import VARIANTS, Kind
from pipeline.places import At, Span

from .samples import at, of
from .test_pages import NOT_BY_A_DOCUMENT

SCHEMA = Path(__file__).parents[1] / "data" / "sarif-2.1.0.json"
BOTH: tuple[Lang, ...] = ("ja", "en")

# Any: a parsed JSON document, looked into by key.
Log = dict[str, Any]


@cache
def validator() -> Draft4Validator:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft4Validator.check_schema(schema)
    return Draft4Validator(schema, format_checker=Draft4Validator.FORMAT_CHECKER)


def log(*documents: Checked, lang: Lang = "ja", help_base: str | None = None) -> Log:
    """Rendered, parsed again and proven valid."""
    text = render_sarif(documents, lang=lang, version="0.1.0", help_base=help_base)
    assert text.endswith("}\n")
    parsed: Log = json.loads(text)
    assert [error.message for error in validator().iter_errors(parsed)] == []
    return parsed


def every() -> list[Diagnostic]:
    values: dict[Kind, str | int | tuple[str, ...]] = {"text": "x", "number": 3, "texts": ("a", "b")}
    found = [
        Finding(name, At(0), 1, tuple((key, values[kind]) for key, kind in arguments.items()), ("freee",), variant)
        for name, variants in VARIANTS.items()
        for variant, arguments in variants.items()
    ]
    return bind(found, (Span(1, 1, 1, 5),), "ja")


@pytest.mark.parametrize("lang", BOTH)
def test_every_diagnostic_is_valid(lang: Lang) -> None:
    """All codes and variants, with pages, fixes and help addresses, make a valid log."""
    run = log(Checked("a.md", ["freee"], every()), lang=lang, help_base="https://aop.example/codes/")["runs"][0]
    assert run["columnKind"] == "unicodeCodePoints"
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == list(BY_CODE)
    for rule in run["tool"]["driver"]["rules"]:
        suffix = "" if lang == "en" else ".ja"
        assert rule["helpUri"] == f"https://aop.example/codes/{rule['id']}{suffix}.md"
        assert rule["name"] == BY_CODE[rule["id"]].name
        assert rule["defaultConfiguration"]["level"] == BY_CODE[rule["id"]].severity
        assert rule["help"]["markdown"].startswith(f"# {rule['id']}: ")


def test_a_log_without_diagnostics_is_valid() -> None:
    """No document, or documents without a fault: a run without results."""
    assert log()["runs"][0]["results"] == []
    assert log(Checked("a.md", ["x"], []))["runs"][0]["results"] == []


def test_without_an_address_the_page_itself_is_the_help() -> None:
    """No help address is invented."""
    (rule,) = log(Checked("a.md", ["会計ソフト"], [of(["会計ソフト"], "会計ソフト")]))["runs"][0]["tool"]["driver"][
        "rules"
    ]
    assert "helpUri" not in rule
    assert "## 書き直し方" in rule["help"]["text"]


def test_results_refer_to_their_rules_and_places() -> None:
    """Rule, level, words, file and region; columns are those of O2."""
    lines = ["👨\u200d👩\u200d👧 (使う道具: 会計ソフト)"]
    first = Checked("週次/報告 1.md", lines, [of(lines, "会計ソフト")])
    second = Checked("b.md", ["```"], [at(Span(1, 1, 1, 4), name="fence-unclosed")])
    run = log(first, second)["runs"][0]
    unreadable, unclosed = run["results"]
    assert unreadable["ruleId"] == "AOP201"
    assert run["tool"]["driver"]["rules"][unreadable["ruleIndex"]]["id"] == "AOP201"
    assert run["tool"]["driver"]["rules"][unclosed["ruleIndex"]]["id"] == "AOP101"
    place = unreadable["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "%E9%80%B1%E6%AC%A1/%E5%A0%B1%E5%91%8A%201.md"
    assert place["region"] == {"startLine": 1, "startColumn": 14, "endLine": 1, "endColumn": 19}
    assert unreadable["message"]["text"].startswith("フェーズ 1 の宣言")
    assert unreadable["properties"] == {"phase": 1, "suggestions": ["freee"]}


def test_no_position_is_no_region() -> None:
    """An unreadable document is reported as a whole."""
    (result,) = log(Checked("a.md", [], [at(None, name="document-unreadable")]))["runs"][0]["results"]
    assert result["locations"] == [{"physicalLocation": {"artifactLocation": {"uri": "a.md"}}}]


def test_a_policy_is_the_level_of_the_result() -> None:
    """Where a policy makes an error of a warning, the result says so, not the rule."""
    drift = NOT_BY_A_DOCUMENT["tool-drifted"]._replace(severity="error")
    found = bind([drift], (Span(1, 1, 1, 2), Span(2, 1, 2, 2)), "ja")
    run = log(Checked("a.md", ["x"], found))["runs"][0]
    assert run["results"][0]["level"] == "error"
    assert run["tool"]["driver"]["rules"][0]["defaultConfiguration"]["level"] == "warning"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a b.md", "a%20b.md"),
        ("a:b.md", "a%3Ab.md"),
        ("50%.md", "50%25.md"),
        ("a#?.md", "a%23%3F.md"),
        ("/srv/a.md", "file:///srv/a.md"),
        ("\udcff.md", "%FF.md"),
    ],
)
def test_any_file_name_is_a_uri(path: str, expected: str) -> None:
    """Blanks, colons, percent signs, and names that are not UTF-8."""
    assert uri(path) == expected


def test_user_text_is_neither_placeholder_nor_link() -> None:
    """3.11.5 and 3.11.6: braces are doubled, and no embedded link can be written in a document."""
    assert plain("{0} [x](https://a.example) [1]") == "{{0}} [x] (https://a.example) [1]"


def found_at(lines: Sequence[str], text: str, name: str, *suggestions: str) -> Diagnostic:
    column = lines[0].index(text) + 1
    arguments = {"item": text, "declaration": "d", "name": "n", "tool": "t", "category": "c", "written": "w"}
    chosen = tuple((key, arguments.get(key, "x")) for key in VARIANTS[name][""])
    span = Span(1, column, 1, column + len(text))
    return bind([Finding(name, At(0), 1, chosen, suggestions)], (span,), "ja")[0]


@pytest.mark.parametrize(
    ("item", "suggestion", "replaced"),
    [
        ("会計ソフト", "freee", "会計ソフト"),
        ("メール (read-only)", "google_workspace の gmail", "メール"),
        ("メール（read-only）", "google_workspace の gmail", "メール"),
        ("browzer (profile: x)", "browser", "browzer"),
        ("メールのみ", "google_workspace の gmail", "メール"),
        ("slack の notfy のみ (read-only)", "slack の notify", "slack の notfy"),
        ("会計ソフト の invoices", "freee", "会計ソフト"),
        ("slak　の notify (read-only)", "slack", "slak"),
        ("会社の会計ソフト", "freee", None),
        ("会計の 仕組み の invoices", "freee", None),
        ("**会計ソフト**", "freee", None),
        ("`会計ソフト`", "freee", None),
        ("(会計ソフト)", "freee", None),
    ],
)
def test_a_fix_replaces_the_words_and_keeps_the_limits(item: str, suggestion: str, replaced: str | None) -> None:
    """T5, T6: `NAME` or `NAME の CATEGORY` is replaced; `(read-only)` and options stay; what is unclear has no fix."""
    lines = [f"前 (使う道具: {item}) 後"]
    found = found_at(lines, item, "tool-unreadable", suggestion)
    assert found.column is not None
    expected = [] if replaced is None else [Fix(Span(1, found.column, 1, found.column + len(replaced)), suggestion)]
    assert fixes(found, lines) == expected


def test_each_suggestion_is_an_alternative() -> None:
    """Best first, as in the suggestions; each fix changes the one file in one place."""
    lines = ["(使う道具: slack の notfy)"]
    found = found_at(lines, "slack の notfy", "category-unknown", "slack の notify", "slack の history")
    (result,) = log(Checked("a.md", lines, [found]))["runs"][0]["results"]
    assert [fix["description"]["text"] for fix in result["fixes"]] == ["slack の notify", "slack の history"]
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "a.md"
    assert change["replacements"] == [
        {
            "deletedRegion": {"startLine": 1, "startColumn": 8, "endLine": 1, "endColumn": 21},
            "insertedContent": {"text": "slack の notify"},
        }
    ]


def test_what_has_no_fix() -> None:
    """Suggestions that do not take the place of their position, places of several lines, documents without lines."""
    lines = ["(使う道具: メール)"]
    assert fixes(found_at(lines, "メール", "handover-no-receiver", "bigquery"), lines) == []
    assert fixes(of(lines, "メール"), []) == []
    assert fixes(at(Span(1, 8, 2, 2)), [*lines, "x"]) == []
    assert fixes(at(None, name="document-unreadable"), lines) == []
    long = [f"(使う道具: {'長' * 1000})"]
    assert fixes(of(long, "長" * 1000), long) == []
