"""Every diagnostic says, in both languages, what is wrong, where, and what to write instead (O3)."""

from __future__ import annotations

from string import Formatter

import pytest

from pipeline.diagnostics.codes import BY_CODE, CODES
from pipeline.diagnostics.findings import Argument, Finding
from pipeline.diagnostics.lang import Lang
from pipeline.diagnostics.messages.language import Template
from pipeline.diagnostics.variants import VARIANTS, Kind
from pipeline.diagnostics.wording import LANGUAGES, NoMessage, words
from pipeline.places import At

CONTEXT = {"where", "fence"}
SAMPLES: dict[Kind, Argument] = {"text": "slack の notify", "number": 41, "texts": ("甲", "乙")}
NO_PHASE = {"document-unreadable", "document-too-large", "handover-outside-phase", "declaration-outside-phase"}
EVERY = [(name, variant) for name, variants in VARIANTS.items() for variant in variants]
BOTH: tuple[Lang, ...] = ("ja", "en")


def blanks(template: Template) -> set[str]:
    return {name for text in template for _, name, _, _ in Formatter().parse(text) if name is not None}


def sample(name: str, variant: str, phase: int | None = 7, suggestions: tuple[str, ...] = ()) -> Finding:
    arguments = tuple((argument, SAMPLES[kind]) for argument, kind in VARIANTS[name][variant].items())
    return Finding(name, At(0), phase, arguments, suggestions, variant)


def test_the_registry_covers_every_code() -> None:
    """Codes, names and variants name the same diagnostics; a code stands for one name."""
    assert list(VARIANTS) == list(CODES)
    assert len(BY_CODE) == len(CODES)


@pytest.mark.parametrize("lang", BOTH)
def test_templates_are_exactly_the_registry(lang: Lang) -> None:
    """Every name and variant has a template in every language, and no template is left over."""
    templates = LANGUAGES[lang].templates
    assert {(name, variant) for name, variants in templates.items() for variant in variants} == set(EVERY)


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_blanks_are_exactly_the_arguments(name: str, variant: str, lang: Lang) -> None:
    """Message and help together use every argument of the contract and none that stages do not pass."""
    assert blanks(LANGUAGES[lang].templates[name][variant]) - CONTEXT == set(VARIANTS[name][variant])


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_words_are_complete(name: str, variant: str, lang: Lang) -> None:
    """No blank stays open; message and help are sentences of the language; the phase is named wherever there is one."""
    message, advice = words(sample(name, variant), 12, lang)
    assert message
    assert advice
    assert "{" not in message + advice
    if lang == "ja":
        assert message.endswith("。")
        assert advice.endswith(("。", "notify"))  # `detail` of a failed check is the verifier's own sentence
    else:
        assert not message.endswith(".")
        assert advice.endswith((".", "notify"))
    if name not in NO_PHASE and variant != "single" and not name.startswith("phase-number"):
        assert ("フェーズ 7" if lang == "ja" else "phase 7") in message


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_no_phase_no_word_of_it(name: str, variant: str, lang: Lang) -> None:
    """A single-phase document's message speaks of no numbered phase, and of no None."""
    message, advice = words(sample(name, variant, phase=None), None, lang)
    assert "None" not in message + advice
    assert "フェーズ 7" not in message
    assert "phase 7" not in message


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_candidates_stand_in_the_help(name: str, variant: str, lang: Lang) -> None:
    """Suggestions are listed in the help, in their order."""
    _, advice = words(sample(name, variant, suggestions=("freee", "google_workspace の gmail")), 1, lang)
    listed = "「freee」、「google_workspace の gmail」" if lang == "ja" else "`freee`, `google_workspace の gmail`"
    assert listed in advice


def is_handover_error(name: str, variant: str) -> bool:
    code = CODES[name]
    return code.severity == "error" and (
        "AOP301" <= code.code <= "AOP316" or (code.code, variant) == ("AOP108", "handover")
    )


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize(("name", "variant"), [each for each in EVERY if is_handover_error(*each)])
def test_a_remark_can_avoid_being_read_as_a_handover(name: str, variant: str, lang: Lang) -> None:
    """V1: every hand-over error says that a remark need only start with another word than この."""
    _, advice = words(sample(name, variant), 1, lang)
    assert LANGUAGES[lang].remark in advice
    assert "この" in LANGUAGES[lang].remark


@pytest.mark.parametrize("name", ["fence-unclosed", "fence-unreachable", "fence-lost", "fence-stale"])
def test_messages_about_a_fence_name_its_line(name: str) -> None:
    """F2, I2, I4: the line that opened the fence is in the message itself."""
    variant = next(iter(VARIANTS[name]))
    assert "12 行目で開いた囲み" in words(sample(name, variant), 12, "ja")[0]
    assert "the fence opened on line 12" in words(sample(name, variant), 12, "en")[0]


@pytest.mark.parametrize("lang", BOTH)
def test_reasons_are_words_of_the_language(lang: Lang) -> None:
    """Every reason of R3 has its phrase; what a later version adds is shown as it is."""
    r3 = {"new", "document", "declaration", "fence", "shared-fence", "tool-schema", "tool-added", "tool-removed"}
    r3 |= {"tool-effect", "callee", "options", "stage-version", "model", "artifact-missing", "artifact-damaged"}
    r3 |= {"forced", "same"}
    assert r3 == set(LANGUAGES[lang].reasons)
    message, _ = words(Finding("artifact-stale", At(0), 1, (("reasons", ("model", "moon-phase")),)), 1, lang)
    assert LANGUAGES[lang].reasons["model"] in message
    assert "moon-phase" in message


def test_a_language_less_fence_reads_well() -> None:
    """V4: the message for a fence without a language does not quote an empty word."""
    arguments = (("written", "(この文を…)"), ("tool", "linear"), ("language", ""))
    message, _ = words(Finding("handover-no-receiver", At(0), 2, arguments), 3, "ja")
    assert "「linear」に、言語の指定のない囲みの文を受け取る操作がありません" in message


@pytest.mark.parametrize("lang", BOTH)
def test_user_text_is_shown_safely(lang: Lang) -> None:
    """Escape sequences, bidi controls, line ends and template marks in a document do nothing in a message."""
    hostile = "a\x1b[2J\u202e\n{where}%s\u2028"
    message, advice = words(Finding("tool-unreadable", At(0), 1, (("item", hostile), ("declaration", "d"))), 1, lang)
    assert "a\\x1b[2J\\u202e\\n{where}%s\\u2028" in message
    assert not set(message + advice) & set("\x1b\u202e\n\u2028")


@pytest.mark.parametrize("lang", BOTH)
@pytest.mark.parametrize(("name", "variant"), EVERY)
def test_messages_are_bounded(name: str, variant: str, lang: Lang) -> None:
    """However long the texts of a document are, a message stays one that can be read."""
    long: dict[Kind, Argument] = {"text": "長" * 100_000, "number": 10**9, "texts": ("長" * 100_000,) * 1_000}
    arguments = tuple((argument, long[kind]) for argument, kind in VARIANTS[name][variant].items())
    message, advice = words(Finding(name, At(0), 7, arguments, ("長" * 100_000,) * 1_000, variant), 1, lang)
    assert len(advice) < 5_000
    assert len(message) < (30_000 if name == "call-cycle" else 5_000)


def test_a_cycle_is_printed_whole() -> None:
    """C1: the path of a cycle names every document on it."""
    path = (*(f"手順{number}" for number in range(60)), "手順0")
    message, _ = words(Finding("call-cycle", At(0), 1, (("path", path),)), 1, "ja")
    assert " → ".join(path) in message


@pytest.mark.parametrize(
    "broken",
    [
        Finding("no-such-diagnostic", None),
        Finding("tool-unreadable", None, variant="no-such-variant"),
        Finding("tool-unreadable", None, arguments=(("item", "x"),)),
        Finding("document-too-large", None, arguments=(("size", "x"), ("limit", 1))),
        Finding("call-cycle", None, arguments=(("path", ("x",)), ("extra", 1)), variant="nowhere"),
    ],
)
def test_a_finding_outside_the_contract_is_a_fault_of_ours(broken: Finding) -> None:
    """It raises a typed exception that names the finding; no half-filled message reaches a user."""
    with pytest.raises(NoMessage):
        words(broken, None, "ja")
