"""Rules: which one decides, what a pattern matches, and what a file may hold."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aop_runtime.plane.permission import Rule, Rules, RulesFault, Verdict, covers, matches, read_rules, strictest
from aop_runtime.plane.spec import ToolSpec

from .given import TEXT, rules

patterns = st.text(st.sampled_from("ab*."), min_size=1, max_size=8)
texts = st.text(st.sampled_from("ab."), max_size=10)
made = st.builds(
    lambda action, pattern, when: Rule.model_validate({action: pattern, "when": when}),
    st.sampled_from(["allow", "ask", "deny"]),
    patterns,
    st.dictionaries(st.sampled_from(["x", "y"]), patterns, max_size=2),
)
arguments = st.dictionaries(st.sampled_from(["x", "y"]), texts | st.lists(texts, max_size=3), max_size=2)


def spec(operation: str = "ab", effect: str = "write", confirmation: str = "rules") -> ToolSpec:
    return ToolSpec(
        name="n",
        tool="a",
        operation=operation,
        description="",
        input_schema=TEXT,
        effect=effect,  # type: ignore[arg-type]
        confirmation=confirmation,  # type: ignore[arg-type]
    )


@given(patterns, texts)
def test_a_pattern_is_a_whole_text_with_stars(pattern: str, text: str) -> None:
    """The same as a regular expression would say."""
    expression = ".*".join(map(re.escape, pattern.split("*")))
    assert matches(pattern, text) == (re.fullmatch(expression, text, re.DOTALL) is not None)


def test_a_pattern_takes_linear_time() -> None:
    """Where a backtracking matcher would not come back."""
    assert not matches("*a" * 200 + "b", "a" * 1_000_000)


@given(st.lists(made, max_size=6), arguments, st.randoms())
def test_the_order_in_the_file_decides_nothing(
    given_rules: list[Rule], values: dict[str, object], rng: random.Random
) -> None:
    """Neither the verdict nor its strictness."""
    shuffled = list(given_rules)
    rng.shuffle(shuffled)
    first, second = (Rules(tuple(order)).verdict(spec(), values) for order in (given_rules, shuffled))  # type: ignore[arg-type]
    assert first.action == second.action


@given(st.lists(made, min_size=1, max_size=6), arguments)
def test_a_rule_yields_to_a_more_specific_one_and_of_the_rest_the_strictest_decides(
    given_rules: list[Rule], values: dict[str, object]
) -> None:
    """Among those that fit."""
    fitting = [rule for rule in given_rules if rule.fits("a.ab", values)]  # type: ignore[arg-type]
    verdict = Rules(tuple(given_rules)).verdict(spec(), values)  # type: ignore[arg-type]
    if not fitting:
        assert verdict.action == "ask"
        return
    standing = [
        rule.action for rule in fitting if not any(other.within(rule) and not rule.within(other) for other in fitting)
    ]
    assert verdict.action == max(standing, key=["allow", "ask", "deny"].index)


@given(st.lists(made, max_size=6), made, arguments)
def test_a_further_prohibition_never_loosens(given_rules: list[Rule], further: Rule, values: dict[str, object]) -> None:
    """And a further rule that does not fit changes nothing."""
    before = Rules(tuple(given_rules)).verdict(spec(), values)  # type: ignore[arg-type]
    after = Rules((*given_rules, further)).verdict(spec(), values)  # type: ignore[arg-type]
    if not further.fits("a.ab", values):  # type: ignore[arg-type]
        assert after == before
    elif further.action == "deny":
        assert strictest([after, before]).action == after.action


@given(patterns, patterns, st.lists(texts, max_size=20))
def test_a_pattern_within_another_matches_nothing_else(wide: str, narrow: str, tried: list[str]) -> None:
    """For any text; and where it is not within, there is a text that tells them apart."""
    if covers(wide, narrow):
        assert all(matches(wide, text) for text in tried if matches(narrow, text))
    else:
        telling = narrow.replace("*", "\u2603")
        assert matches(narrow, telling)
        assert not matches(wide, telling)


@pytest.mark.parametrize(
    ("given_rules", "operation", "values", "action"),
    [
        ([{"deny": "*"}, {"allow": "a.send"}], "send", {}, "allow"),
        ([{"deny": "*.delete_*"}, {"allow": "a.*"}], "delete_all", {}, "deny"),
        ([{"deny": "*.delete_*"}, {"allow": "a.*"}, {"allow": "a.delete_draft"}], "delete_draft", {}, "allow"),
        ([{"deny": "a.send"}, {"allow": "*", "when": {"to": "*"}}], "send", {"to": "x"}, "deny"),
        ([{"ask": "a.*"}, {"allow": "a.send", "when": {"to": "#in-*"}}], "send", {"to": "#in-1"}, "allow"),
        ([{"ask": "a.*"}, {"allow": "a.send", "when": {"to": "#in-*"}}], "send", {"to": "#out"}, "ask"),
        ([{"allow": "a.send"}, {"deny": "a.send", "when": {"to": "#out"}}], "send", {"to": "#out"}, "deny"),
        ([{"allow": "a.send"}, {"ask": "a.send"}], "send", {}, "ask"),
    ],
)
def test_broad_prohibitions_are_lifted_only_from_within(
    given_rules: list[dict[str, object]], operation: str, values: dict[str, object], action: str
) -> None:
    """The examples of the documentation."""
    assert rules(*given_rules).verdict(spec(operation), values).action == action  # type: ignore[arg-type]


@given(st.lists(made, max_size=6), arguments)
def test_what_is_always_asked_for_is_never_allowed(given_rules: list[Rule], values: dict[str, object]) -> None:
    """A rule can only deny it."""
    verdict = Rules(tuple(given_rules)).verdict(spec(confirmation="always"), values)  # type: ignore[arg-type]
    assert verdict.action in ("ask", "deny")


def test_without_a_rule_the_contract_decides() -> None:
    """Reads run, writes are asked for, unless the tool is never or always asked for."""
    none = Rules()
    found = [
        none.verdict(spec(effect=effect, confirmation=confirmation), {}).action
        for effect in ("read", "write")
        for confirmation in ("rules", "never", "always")
    ]
    assert found == ["allow", "allow", "ask", "ask", "allow", "ask"]


def test_in_a_list_every_value_counts() -> None:
    """One that is not allowed is not hidden by others, one that is denied is found among others."""
    allowing = rules({"allow": "*", "when": {"to": "*@example.com"}})
    denying = rules({"allow": "*"}, {"deny": "*", "when": {"to": "*@evil.example"}})
    good, mixed = {"to": ["a@example.com", "b@example.com"]}, {"to": ["a@example.com", "x@evil.example"]}
    assert [allowing.verdict(spec(), values).action for values in (good, mixed)] == ["allow", "ask"]  # type: ignore[arg-type]
    assert [denying.verdict(spec(), values).action for values in (good, mixed)] == ["allow", "deny"]  # type: ignore[arg-type]


def test_the_strictest_of_several_holds() -> None:
    """Deny before ask before allow."""
    verdicts = [Verdict("allow", ""), Verdict("deny", ""), Verdict("ask", "")]
    assert strictest(verdicts).action == "deny"


def test_a_file_is_read(tmp_path: Path) -> None:
    """As the docs show it."""
    path = tmp_path / "permissions.yaml"
    path.write_text('version: 1\nrules:\n  - allow: slack.post_message\n    when: {channel_id: "#incident-*"}\n')
    (rule,) = read_rules(path).rules
    assert (rule.action, rule.pattern, rule.when) == ("allow", "slack.post_message", {"channel_id": "#incident-*"})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("version: 2\n", ":1: version"),
        ("rules: []\n", "version"),
        ("version: 1\nrule: []\n", ":2: rule"),
        ("version: 1\nrules:\n- ask: a\n- {allow: a, deny: b}\n", ":4: rules.1: a rule has exactly one"),
        ("version: 1\nrules: [{when: {a: b}}]\n", "exactly one"),
        ("version: 1\nrules: [{allow: a, unless: b}]\n", "unless"),
        ("version: 1\nrules:\n- allow: a\n  allow: b\n", ":4: the key 'allow' is there twice"),
        ("version: 1\nrules: [{allow: 1}]\n", "allow"),
        ("version: 1\nrules: [{allow: ''}]\n", "allow"),
        ("version: 1\nrules: [{allow: 2026-02-30}]\n", "a value that there is not"),
        ("version: 1\nrules: {\n", "not YAML"),
        ("a: &a [x]\nb: [*a, *a]\n", ":2: aliases"),
        ("version: 1\nrules: !!python/object:os.system []\n", "not YAML"),
        ("[" * 200_000, "nested"),
        ("{a: " * 50_000, "nested"),
        ("- 1\n", "the file"),
        ("x" * 300_000, "bytes"),
    ],
)
def test_a_file_that_is_wrong_is_refused_whole(tmp_path: Path, text: str, said: str) -> None:
    """With the file's name, the line and what is wrong, and soon."""
    path = tmp_path / "permissions.yaml"
    path.write_text(text)
    with pytest.raises(RulesFault, match=re.escape(str(path))) as fault:
        read_rules(path)
    assert said in str(fault.value)


def test_a_file_that_is_missing_or_no_text(tmp_path: Path) -> None:
    """Likewise."""
    with pytest.raises(RulesFault, match="No such file"):
        read_rules(tmp_path / "none.yaml")
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RulesFault, match="not UTF-8"):
        read_rules(tmp_path / "bytes.yaml")
