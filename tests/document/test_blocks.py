"""What `read_blocks` promises about each kind of block, one rule a test, and about every document."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.document.blocks import MAX_NESTING, Block, TextLine, normalize_label, read_blocks
from pipeline.document.source import Source, read_source

from .blocks_of import blocks_of
from .markdown import documents


def only(text: str, kind: str) -> Block:
    (block,) = (block for block in blocks_of(text) if block.kind == kind and block.nesting >= 0)
    return block


def kinds(text: str) -> list[str]:
    return [block.kind for block in blocks_of(text) if block.nesting >= 0]


# ------------------------------------------------------------------------------------------------------- fences


@pytest.mark.parametrize(
    ("document", "text", "closed", "end_line"),
    [
        ("```\n```\n", "", True, 3),
        ("```\n", "", False, 2),
        ("```\na\n", "a\n", False, 3),
        ("````\na\n```\n", "a\n```\n", False, 4),
        ("````\na\n`````\nb\n", "a\n", True, 4),
        ("```\na\n~~~\n", "a\n~~~\n", False, 4),
        ("```\na\n    ```\n", "a\n    ```\n", False, 4),
        ("```\na\n``` b\n", "a\n``` b\n", False, 4),
        ("```\na\n```  \t\n", "a\n", True, 4),
        ("```\na\n```\u3000\n", "a\n```\u3000\n", False, 4),
        ("```\na\n\n\n", "a\n\n\n", False, 5),
        ("> ```\n> a\nb\n", "a\n", False, 3),
        ("> ```\n> a\n\n> b\n", "a\n", False, 3),
        ("- ```\n  a\n\n\nb\n", "a\n\n\n", False, 5),
        ("- ```\n  a\n  ```\n", "a\n", True, 4),
        ("- ```\n  a\n```\n", "a\n", False, 3),
    ],
)
def test_a_fence_is_closed_by_its_closing_mark_alone(document: str, text: str, closed: bool, end_line: int) -> None:
    """Shorter marks, marks of the other kind, marks with text behind them or too far in do not close; nor does the end
    of a container or of the document (F1, F2)."""
    fence = next(block for block in blocks_of(document) if block.kind == "fence")
    assert (fence.text, fence.closed, fence.end_line) == (text, closed, end_line)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        ("  ```\n   a\n  b\n c\n\td\n", " a\nb\nc\n  d\n"),
        ("- ```\n\ta\n", "  a\n"),
        ("- ```\n  \ta\n", "\ta\n"),
        (">\t```\n>\t a\n", " a\n"),
        ("> ```\n>\ta\n>b\n>\n", "  a\nb\n\n"),
        ("1. > ```\n   >   a\n   >\tb\n", "  a\n   b\n"),
        ("- ```\n       \n  a\n", "     \na\n"),
    ],
)
def test_a_fence_loses_the_indentation_of_its_opener_and_containers_in_columns(document: str, text: str) -> None:
    """A tab of which a part is indentation leaves spaces for the rest of its columns (F1)."""
    assert only(document, "fence").text == text


def test_a_fences_text_is_kept_character_for_character() -> None:
    """Trailing blanks, tabs, full-width forms, form feeds, U+2028 and emoji stay; nothing but LF ends a line (F3)."""
    text = "a  \n\tb\t\nＣ\u3000\n\f\n\u2028d\u2029\n\u0085\x1c\x1de\x0b\n😀\n"
    assert only("```\n" + text + "```\n", "fence").text == text
    nested = "".join(">   " + line + "\n" for line in text.split("\n")[:-1])
    assert only("> - ```\n" + nested, "fence").text == text


@pytest.mark.parametrize(
    ("opening", "info"),
    [
        ("```  sql  x\t", "sql  x"),
        ("```\u3000sql\u3000", "\u3000sql\u3000"),
        ("~~~ `a`", "`a`"),
        ("```\\#&amp;", "\\#&amp;"),
    ],
)
def test_an_info_string_is_as_written(opening: str, info: str) -> None:
    """Only the blanks around it are gone; escapes and entities stay."""
    assert only(opening + "\n", "fence").info == info


def test_a_fence_stands_at_its_mark() -> None:
    """Line and column are those of the first backtick or tilde, behind the containers' marks and any indentation."""
    fence = only("売上\n\n> 1.  -   ```\n", "fence")
    assert (fence.line, fence.column) == (3, 11)


@pytest.mark.parametrize(
    "document",
    ["<!--\n```\na\n\n```\n", "<!a\n```\n", "<div>\n```\n", "<search>\n```\n", "    ```\n", "``\na\n", "``` a`\n"],
)
def test_where_there_is_no_fence(document: str) -> None:
    """HTML blocks and indented code hide fences; two backticks, or a backtick in the info string, open none (F1)."""
    assert "fence" not in kinds(document)


# ----------------------------------------------------------------------------------------------- text and headings


def test_a_paragraph_loses_blanks_and_nothing_else() -> None:
    """Spaces and tabs at the beginning of a line and the end of the last are gone; other white space is text (F3)."""
    lines = only(" a  \n\t\u3000b\u3000\n\u00a0c\u0085\f \t\n", "paragraph").lines
    assert lines == (TextLine(1, 2, "a  "), TextLine(2, 2, "\u3000b\u3000"), TextLine(3, 1, "\u00a0c\u0085\f"))


@pytest.mark.parametrize(
    ("document", "level", "line"),
    [
        ("#  フェーズ 1: 例 ##  \n", 1, TextLine(1, 4, "フェーズ 1: 例")),
        ("## \u3000a\u3000\n", 2, TextLine(1, 4, "\u3000a\u3000")),
        ("### a#\n", 3, TextLine(1, 5, "a#")),
        ("# a \\#\n", 1, TextLine(1, 3, "a \\#")),
        ("# a \u3000#\n", 1, TextLine(1, 3, "a \u3000#")),
        ("###### ###\n", 6, TextLine(1, 8, "")),
        ("#\n", 1, TextLine(1, 2, "")),
        (">  # a\n", 1, TextLine(1, 6, "a")),
    ],
)
def test_an_atx_headings_text(document: str, level: int, line: TextLine) -> None:
    """Opening and closing sequence are gone; a closing sequence needs a space or tab before it."""
    heading = only(document, "heading")
    assert (heading.level, heading.lines) == (level, (line,))
    assert heading.column == document.index("#") + 1


def test_a_setext_heading_has_the_lines_above_its_underline() -> None:
    """It begins at its text's first character and ends behind the underline."""
    heading = only("> 概要\n>   続き \n> ===\n", "heading")
    assert heading.lines == (TextLine(1, 3, "概要"), TextLine(2, 5, "続き"))
    assert (heading.level, heading.line, heading.end_line, heading.column) == (1, 1, 4, 3)


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("   123456789) a\n    # b\n", ["list", "item", "paragraph"]),
        ("   123456789) > a\n    # b\n", ["list", "item", "quote", "paragraph"]),
        ("> a\n<b>\n", ["quote", "paragraph"]),
        ("> a\n===\n", ["quote", "paragraph"]),
        ("> a\n---\n", ["quote", "paragraph", "rule"]),
        ("> a\n2. b\n", ["quote", "paragraph", "list", "item", "paragraph"]),
        ("a\n2. b\n", ["paragraph"]),
        ("a\n-\n", ["heading"]),
        ("a\n*\n", ["paragraph"]),
        ("> ```\na\n", ["quote", "fence", "paragraph"]),
    ],
)
def test_a_lazy_line_is_judged_by_the_containers_that_it_is_inside_of(document: str, expected: list[str]) -> None:
    """A line outside the paragraph's containers goes on with it unless it begins a block where it stands."""
    assert kinds(document) == expected


# ---------------------------------------------------------------------------------------------------- definitions


def test_definitions_are_blocks_of_their_own() -> None:
    """They come off the beginning of a paragraph, several lines each if need be, with normalized labels."""
    blocks = blocks_of("[ Foo\n bar ]: /u\n'title'\n[ẞ]: <a b>\n本文 [c]: /x\n")
    assert [(block.kind, block.label, block.line, block.end_line) for block in blocks] == [
        ("definition", "foo bar", 1, 4),
        ("definition", "ss", 4, 5),
        ("paragraph", "", 5, 6),
    ]
    assert blocks[0].lines == (TextLine(1, 1, "[ Foo"), TextLine(2, 2, "bar ]: /u"), TextLine(3, 1, "'title'"))


@pytest.mark.parametrize(
    "text",
    [
        "[a]:\n",
        "[a] : b\n",
        "[a]: b c\n",
        "[a]: <b\n",
        "[a]: (b\n",
        "[a]: b)\n",
        "[a]: b\x01\n",
        "[a]: <b>'c'\n",
        "[a]: b 'c' d\n",
        "[ \t]: b\n",
        "[a[b]: c\n",
        "[a\\]: b\n",
        f"[{'a' * 1000}]: b\n",
    ],
)
def test_what_is_no_definition(text: str) -> None:
    """Missing or broken destinations, titles with text behind them, labels that are empty, open or too long."""
    assert kinds(text) == ["paragraph"]


@pytest.mark.parametrize(
    "text",
    [
        "[a]: <>\n",
        "[a]: b\\)\n",
        "[a]: " + "(" * 40 + ")" * 40 + "\n",
        "[a]:\tb\t(c)\t\n",
        "[\u3000]: b\n",
        "[a\\]]: b\n",
        f"[{'a' * 999}]: b\n",
        "[a]: b\n(c\nd)\n",
    ],
)
def test_what_is_a_definition(text: str) -> None:
    """Empty destinations in angle brackets, escapes, balanced parentheses, tabs, a label of other white space."""
    assert kinds(text) == ["definition"]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("[a]: b\n    c\n", ["definition", "paragraph"]),
        ("[a]: b\n<i>\n", ["definition", "paragraph"]),
        ("[a]: b\n2. c\n", ["definition", "paragraph"]),
        ("[a]: b\n===\nc\n", ["definition", "paragraph"]),
        ("[a]: b\n---\n", ["definition", "rule"]),
        ("[a]: b\nc\n---\n", ["definition", "heading"]),
        ("[a]: b\n'c\n---\n", ["definition", "heading"]),
        ("c\n[a]: b\n", ["paragraph"]),
    ],
)
def test_a_definition_is_taken_off_a_finished_paragraph(document: str, expected: list[str]) -> None:
    """What follows a definition is paragraph continuation text, or the heading's or thematic break's own."""
    assert kinds(document) == expected


def test_labels_are_compared_as_commonmark_does() -> None:
    """Case folds, runs of spaces, tabs and line ends are one space; other white space is part of the label."""
    assert normalize_label("\t Straße \n x ") == normalize_label("STRASSE X")
    assert normalize_label("\u3000a") != normalize_label("a")


# ------------------------------------------------------------------------------------------------ code, html, items


def test_indented_code_has_its_lines_at_their_columns() -> None:
    """Four columns are indentation, blank lines between stay, those behind do not; of a cut tab nothing is left."""
    code = only("     a\n\n\tb\n      \n    \n", "code")
    assert code.lines == (TextLine(1, 5, " a"), TextLine(2, 1, ""), TextLine(3, 2, "b"))
    assert (code.line, code.end_line, code.column) == (1, 4, 6)
    assert only("- \t\tb\n", "code").lines == (TextLine(1, 5, "b"),)


@pytest.mark.parametrize(
    ("document", "end_line"),
    [
        ("<!--\na\n\nb --> c\nd\n", 5),
        ("<!-->\na\n", 2),
        ("<!--->\na\n", 2),
        ("<?a\n\n?>\nb\n", 4),
        ("<!a\n\nb>\nc\n", 4),
        ("<![CDATA[\n\n]]>\nc\n", 4),
        ("<SCRIPT>\n\n</Style>\nc\n", 4),
        ("<div\n*a*\n\nb\n", 3),
        ("</p>\na\n\nb\n", 3),
        ("<x-y a=b c='d' e>\na\n\nb\n", 3),
        ("</script>\na\n\nb\n", 3),
        ("> <div>\n> a\nb\n", 3),
    ],
)
def test_an_html_block_ends_at_its_own_condition(document: str, end_line: int) -> None:
    """At a line that holds the end mark, at a blank line, or at the end of its container."""
    html = only(document, "html")
    assert (html.line, html.end_line) == (1, end_line)


@pytest.mark.parametrize(
    "document", ["<div\u3000>\n", "<a\x0bb>\n", "<ſcript>\n", "a\n<i>\n", "<i> a\n", "<1>\n", "<!1\n"]
)
def test_what_begins_no_html_block(document: str) -> None:
    """Other white space, letters beyond ASCII, a lone tag below text, a tag with text behind it."""
    assert kinds(document) == ["paragraph"]


def test_an_item_has_its_marker() -> None:
    """As written, with the digits and the delimiter; another bullet or delimiter begins another list."""
    blocks = [block for block in blocks_of("- a\n- b\n* c\n007) d\n8) e\n9. f\n") if block.nesting == 1]
    assert [block.marker or block.kind for block in blocks] == [
        "list",
        "-",
        "-",
        "list",
        "*",
        "list",
        "007)",
        "8)",
        "list",
        "9.",
    ]


def test_an_empty_item_ends_at_a_second_blank_line() -> None:
    """An item may begin with one blank line, even where the second one is indented far enough for it."""
    assert kinds("-\n  a\n") == ["list", "item", "paragraph"]
    for blank in ("", "     "):
        blocks = blocks_of(f"-\n{blank}\n  a\n")
        assert [(block.kind, block.depth) for block in blocks][-1] == ("paragraph", 0)


# ---------------------------------------------------------------------------------------------------- every document


def check(source: Source) -> list[Block]:
    """What holds for the blocks of any document."""
    blocks = read_blocks(source)
    opened: list[Block] = []
    line = 1
    for block in blocks:
        assert block.depth == len(opened) - (block.nesting == -1)
        assert 1 <= block.line < block.end_line <= len(source.lines) + 1
        assert source.lines[block.line - 1][block.column - 1] not in " \t"
        if block.nesting == -1:
            opening = opened.pop()
            assert (block.kind, block.line, block.end_line) == (opening.kind, opening.line, opening.end_line)
            continue
        assert line <= block.line
        assert not opened or block.end_line <= opened[-1].end_line
        if block.nesting == 1:
            opened.append(block)
        line = block.line if block.nesting else block.end_line
        for number, column, text in block.lines:
            assert source.lines[number - 1][column - 1 : column - 1 + len(text)] == text
            assert block.line <= number < block.end_line
            assert 1 <= column <= len(source.lines[number - 1]) + 1
        if block.kind in ("heading", "paragraph", "code", "html", "definition"):
            assert block.lines
        assert block.kind != "fence" or block.text == "" or block.text.endswith("\n")
    assert not opened
    return blocks


@given(documents())
def test_every_composed_document_is_read_with_places_that_are_in_it(text: str) -> None:
    """Blocks nest, lie in the document one behind the other, and each line's text stands where it says."""
    source = read_source(text.encode())
    assert isinstance(source, Source)
    check(source)


@given(st.text(alphabet=st.sampled_from("\n\n\n \t>-*+1.)#`~=_[]():<!?/\"'\\ab\u3000\f\u2028"), min_size=1))
def test_every_row_of_marks_is_read(text: str) -> None:
    """The same for any order of the characters that CommonMark knows, and some that it does not."""
    source = read_source(text.encode())
    if isinstance(source, Source):
        check(source)


@given(st.text(min_size=1))
def test_every_text_is_read(text: str) -> None:
    """The same for any text."""
    source = read_source(text.encode("utf-8", "ignore"))
    if isinstance(source, Source):
        check(source)


@given(st.lists(st.sampled_from(["> ", "- ", "1. ", "* "]), max_size=300), st.booleans())
def test_a_fence_arrives_out_of_any_depth(marks: list[str], closed: bool) -> None:
    """Its text loses the marks of all its containers, and nothing else."""
    within = "".join(mark if mark == "> " else " " * len(mark) for mark in marks)
    lines = [
        "".join(marks) + "```sql",
        *(within + line for line in ["  a  ", "", "\u3000b", *(["```"] if closed else [])]),
    ]
    fences = [block for block in blocks_of("\n".join(lines)) if block.kind == "fence"]
    assert [(fence.text, fence.closed, fence.info) for fence in fences] == [("  a  \n\n\u3000b\n", closed, "sql")]


@pytest.mark.parametrize("mark", [">", "- ", "1. ", "> - "])
def test_nesting_has_a_limit_beyond_which_marks_are_text(mark: str) -> None:
    """A thousand levels are read as such; beyond ten thousand the document still gets a result."""
    deep = blocks_of(mark * 500 + "a\n")
    assert max(block.depth for block in deep) >= 500 * len(mark.split())
    deepest = check(Source(mark * 20_000 + "a", [mark * 20_000 + "a"]))
    assert sum(block.nesting == 1 and block.kind != "list" for block in deepest) == MAX_NESTING
    (text,) = (block for block in deepest if block.nesting == 0)
    assert text.kind == "paragraph" and text.lines[0].text.endswith(mark + "a")
