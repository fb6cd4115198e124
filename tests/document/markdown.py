"""Random documents composed of CommonMark's block constructs, and then damaged a little, for hypothesis."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

Lines = list[str]

_PLAIN = [
    "売上を読む",
    "a",
    "\u3000z\u3000",
    "\u00a0n\u00a0",
    "q\f",
    "\u2028",
    "\u0085",
    "😀",
    " x ",
    "\ta\t",
    "|a|b|",
    "`",
]
_MARKED = ["2. x", "1. y", "- z", "+ + p", "# h", "> q", "==", "---", "    c", "```", "~~~", "```x", "\\#"]
_HTML = ["<b>", "<i a='b'>", "</script>", "<div>", "<!-- c", "-->", "<!a", "?>", "]]>"]
_DEFINITIONS = ["[a]: /u", '[b]: <u> "t"', "[c]:", "/u", "'t'", "(t"]
_WORDS = st.sampled_from(_PLAIN + _MARKED + _HTML + _DEFINITIONS)
_TEXTS = st.lists(_WORDS, min_size=1, max_size=4)
_SHORT = st.integers(0, 4).map(lambda width: " " * width)


@st.composite
def fences(draw: st.DrawFn) -> Lines:
    marks = draw(st.sampled_from(["```", "~~~", "````", "~~~~~"]))
    info = draw(st.sampled_from(["", "", "sql", " ts  x", "text\u3000", "~", "`", "\\#"]))
    text = draw(
        st.lists(_WORDS | st.sampled_from(["", "  i", "\tt", marks[:-1], "    " + marks, marks + "x"]), max_size=5)
    )
    closing = draw(
        st.none() | st.tuples(_SHORT, st.sampled_from([marks, marks + marks[0]]), st.sampled_from(["", " ", "\t"]))
    )
    indent = draw(_SHORT)
    lines = [marks + info, *text, *(["".join(closing)] if closing else [])]
    return [indent + line for line in lines]


@st.composite
def _html(draw: st.DrawFn) -> Lines:
    opening = draw(
        st.sampled_from(["<div>", "<!--", "<!A", "<?", "<b>", "<pre>", "<![CDATA[", "<search x>", "</p>", "<a"])
    )
    return [opening, *draw(st.lists(_WORDS | st.sampled_from(["", "</pre>", ">"]), max_size=4))]


_HEADINGS = st.builds(
    lambda marks, gap, text, end: [marks + gap + text + end],
    st.integers(1, 7).map(lambda level: "#" * level),
    st.sampled_from([" ", "\t", "", "  "]),
    st.sampled_from(["h", "フェーズ 1: 例", "\u3000h\u3000", "", "*a* `b`"]),
    st.sampled_from(["", " #", " ##  ", "#", " \\#"]),
)
_SETEXT = st.builds(
    lambda text, line: [*text, line], _TEXTS, st.sampled_from(["=", "---", "===  ", "-- -", "--", "   =="])
)
_CODE = st.lists(st.sampled_from(["    a", "\tb", "     - c", "    ```", "", "      "]), min_size=1, max_size=4)
_RULES = st.sampled_from([["***"], ["- - -"], ["___ _"], ["* * *x"]])
_LEAVES = st.one_of(_TEXTS, fences(), _html(), _HEADINGS, _SETEXT, _CODE, _RULES)


def _joined(blocks: st.SearchStrategy[Lines]) -> st.SearchStrategy[Lines]:
    pieces = st.lists(st.tuples(blocks, st.booleans()), min_size=1, max_size=3)
    return pieces.map(lambda found: [line for lines, gap in found for line in (*lines, *([""] if gap else []))])


@st.composite
def _quotes(draw: st.DrawFn, content: st.SearchStrategy[Lines]) -> Lines:
    mark = draw(st.sampled_from(["> ", ">", ">\t", " > ", "   >  "]))
    return [mark + line for line in draw(content)]


@st.composite
def _items(draw: st.DrawFn, content: st.SearchStrategy[Lines]) -> Lines:
    indent = draw(st.integers(0, 3).map(lambda width: " " * width))
    marker = indent + draw(st.sampled_from(["-", "*", "+", "1.", "2.", "10)", "123456789."]))
    gap = draw(st.sampled_from([" ", " ", "  ", "   ", "    ", "     ", "\t"]))
    first, *rest = draw(content)
    width = len((marker + gap).expandtabs(4))
    return [marker + gap + first, *(" " * width + line if line else "" for line in rest)]


_BLOCKS = st.recursive(_LEAVES, lambda inner: _quotes(_joined(inner)) | _items(_joined(inner)), max_leaves=10)

_DAMAGE: dict[str, Callable[[str], str]] = {
    "lazy": lambda line: line.lstrip(" >"),
    "outdented": lambda line: line[2:],
    "indented": lambda line: "  " + line,
    "far": lambda line: "    " + line,
    "tabs": lambda line: line.replace("    ", "\t"),
    "tab": lambda line: line.replace("  ", "\t", 1),
    "tight": lambda line: line.replace("> ", ">", 1),
    "blanks": lambda line: line + "  ",
    "gone": lambda line: "",
}


@st.composite
def documents(draw: st.DrawFn) -> str:
    """Documents with LF line ends, each with at least one character that is no blank."""
    lines = draw(_joined(_BLOCKS))
    for place, kind in draw(st.lists(st.tuples(st.integers(0, 60), st.sampled_from(sorted(_DAMAGE))), max_size=5)):
        if place < len(lines):
            lines[place] = _DAMAGE[kind](lines[place])
    end = draw(st.sampled_from(["\n", "", "\n\n"]))
    text = "\n".join(lines) + end
    return text if text.strip() else "a" + text
