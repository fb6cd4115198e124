"""Command lines: what the quick reader and typer make of them, and what values mean."""

from __future__ import annotations

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from cli.app import build_app
from cli.arguments import Options, Words, read_lang, read_options, read_size, spoken
from cli.quick import read_words
from cli.trouble import Trouble

WORDS = [
    "a.md", "b c.md", "-", "--", "", "ja", "json", "--out", "--out=x", "--out=", "--catalog", "--catalog=c.yaml",
    "--org", "--org=o.yaml",
    "--mcp-config", "--format", "--format=json", "--lang", "--reuse", "--strict", "--watch", "--max-bytes", "--jobs",
    "--store", "--color", "--max_bytes", "--strict=1", "--nothing", "-x", "-h", "--help", "--forma", "1",
]  # fmt: skip


def by_typer(arguments: list[str]) -> Options | None:
    """What typer makes of the line; None where it refuses, or shows help."""
    seen: list[Options] = []

    def note(options: Options) -> int:
        seen.append(options)
        return 0

    try:
        build_app("en", note)(args=arguments, prog_name="aop", standalone_mode=False)
    except typer.TyperException:
        return None
    return seen[0] if seen else None


def by_quick_reader(arguments: list[str]) -> Options | None:
    """What the quick reader makes of the line; None where it leaves it to typer."""
    found = read_words(arguments)
    return None if found is None else read_options(found[1], check=found[0] == "check")


@pytest.mark.parametrize(
    "line",
    [
        ["compile", "a.md"],
        ["check", "a.md", "b.md"],
        ["compile", "-"],
        ["compile", "--out", "x", "a.md", "--catalog=1", "--catalog", "2", "--strict", "--lang", "en"],
        ["check", "a.md", "--format=jsonl", "--jobs", "2", "--max-bytes", "1MiB", "--store", "s", "--color", "never"],
        ["compile", "--reuse=exact", "--mcp-config", "m.json", "--", "--odd.md", "-"],
        ["compile", "--out", "-", "a.md"],
        ["check", "--org", "o.yaml", "a.md", "--org=p.yaml"],
    ],
)
def test_the_usual_lines_are_read_without_typer(line: list[str]) -> None:
    """And mean the same."""
    quick = by_quick_reader(line)
    assert quick is not None
    assert quick == by_typer(line)


@given(line=st.lists(st.sampled_from(WORDS), max_size=6), command=st.sampled_from(["compile", "check"]))
def test_the_quick_reader_never_differs_from_typer(line: list[str], command: str) -> None:
    """Whatever it takes, typer takes in the same way; what typer refuses, it does not take."""
    arguments = [command, *line]
    try:
        quick = by_quick_reader(arguments)
    except Trouble:
        return  # a value that no command takes, whoever read the words
    if quick is not None:
        assert quick == by_typer(arguments)


@pytest.mark.parametrize(
    ("word", "size"),
    [("0", 0), ("1048576", 1 << 20), ("500MB", 500_000_000), ("1MiB", 1 << 20), ("2 kb", 2000), ("1gib", 1 << 30)],
)
def test_sizes(word: str, size: int) -> None:
    """Plain bytes, powers of 1000 and of 1024."""
    assert read_size("--max-bytes", word) == size


@pytest.mark.parametrize("word", ["", "x", "-1", "1.5MB", "10XB", "１００", "1" * 13])
def test_what_is_no_size(word: str) -> None:
    """Says which option and what was written."""
    with pytest.raises(Trouble) as caught:
        read_size("--max-bytes", word)
    assert f"`{word}`" in caught.value.text("en")
    assert "--max-bytes" in caught.value.text("ja")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (Words(format="xml"), "text, json, jsonl, sarif, github"),
        (Words(lang="fr"), "--lang"),
        (Words(reuse="often"), "compatible, exact, never"),
        (Words(color="blue"), "auto, always, never"),
        (Words(jobs="0"), "--jobs"),
        (Words(jobs="many"), "many"),
        (Words(out=""), "--out"),
        (Words(store=""), "--store"),
        (Words(catalog=("",)), "--catalog"),
        (Words(org=("",)), "--org"),
        (Words(watch=True, documents=("-",)), "-"),
        (Words(watch=True, format="sarif"), "sarif"),
    ],
)
def test_a_value_that_is_none(words: Words, part: str) -> None:
    """Every mistake names the option, or what may be written."""
    with pytest.raises(Trouble) as caught:
        read_options(words, check=False, environment={})
    assert part in caught.value.text("en")
    assert part in caught.value.text("ja")


def test_the_language() -> None:
    """`--lang` goes before `AOP_LANG`, which goes before Japanese."""
    assert read_lang(None, {}) == "ja"
    assert read_lang(None, {"AOP_LANG": "en"}) == "en"
    assert read_lang("ja", {"AOP_LANG": "en"}) == "ja"
    with pytest.raises(Trouble, match="usage"):
        read_lang(None, {"AOP_LANG": "de"})


@pytest.mark.parametrize(
    ("line", "environment", "lang"),
    [
        (["compile"], {}, "ja"),
        (["--lang", "en"], {}, "en"),
        (["x", "--lang=en"], {}, "en"),
        (["x", "--lang"], {"AOP_LANG": "en"}, "ja"),
        (["x"], {"AOP_LANG": "en"}, "en"),
        (["--lang", "en", "--lang", "ja"], {}, "ja"),
    ],
)
def test_the_language_of_complaints(line: list[str], environment: dict[str, str], lang: str) -> None:
    """Is found in a line that may be unreadable otherwise."""
    assert spoken(line, environment) == lang
