"""Where each document's output goes (O1)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.folders import MAX_BYTES, folders, safe_name


def test_a_document_has_a_folder_called_after_its_file() -> None:
    """Whatever its folder and its name; standard input is called after what it holds."""
    assert folders([("weekly.md", "週次報告"), ("sales/月次 報告.v2.md", "x"), ("-", "請求")]) == {
        "weekly.md": "weekly",
        "sales/月次 報告.v2.md": "月次 報告.v2",
        "-": "請求",
    }


def test_documents_that_would_share_a_folder_get_their_paths() -> None:
    """All of them, and no other."""
    found = folders([("a/weekly.md", ""), ("b/weekly.md", ""), ("daily.md", "")])
    assert found == {"a/weekly.md": "a-weekly", "b/weekly.md": "b-weekly", "daily.md": "daily"}


def test_names_that_a_file_system_may_take_for_one_are_kept_apart() -> None:
    """Upper and lower case, and letters composed in two ways."""
    for one, two in (("Weekly", "weekly"), ("が", unicodedata.normalize("NFD", "が"))):
        found = folders([(f"a/{one}.md", ""), (f"b/{two}.md", "")])
        assert found == {f"a/{one}.md": f"a-{one}", f"b/{two}.md": f"b-{two}"}


def test_paths_that_read_alike_are_told_apart_by_digest() -> None:
    """`a/b-c` and `a-b/c` have the same name with their paths; a document of that very name, too."""
    found = folders([("a/b-c.md", ""), ("x/b-c.md", ""), ("a-b/c.md", ""), ("y/c.md", ""), ("a-b-c.md", "")])
    assert len(set(found.values())) == 5
    assert found["x/b-c.md"] == "x-b-c"
    assert found["a/b-c.md"].startswith("a-b-c-")


UNSAFE = {
    "..": "document",
    "": "document",
    ".git": "git",
    "a/b": "a_b",
    "a\\b": "a_b",
    "a\nb\x1b[31m": "a_b_[31m",
    "a\u202eb": "a_b",
    "name. ": "name",
    "con": "_con",
    "NUL.txt": "_NUL.txt",
    "console": "console",
    "C:x": "C_x",
    "~root": "root",
    "--out": "out",
}


@pytest.mark.parametrize(("text", "name"), UNSAFE.items())
def test_unsafe_names_are_made_safe(text: str, name: str) -> None:
    """No way out, nothing hidden, no device, no option, nothing that a terminal obeys."""
    assert safe_name(text) == name


def test_long_names_are_cut_and_stay_apart() -> None:
    """Bounded in bytes, with a digest for what was cut off."""
    one, two = safe_name("長" * 200 + "一"), safe_name("長" * 200 + "二")
    assert one != two
    assert max(len(one.encode()), len(two.encode())) <= MAX_BYTES


@given(
    st.lists(
        st.tuples(st.text(max_size=12) | st.from_regex(r"[ab./-]{1,5}(\.md)?", fullmatch=True), st.text(max_size=8)),
        max_size=12,
    )
)
def test_folders_are_safe_distinct_and_independent_of_order(documents: list[tuple[str, str]]) -> None:
    """Any paths and names: one folder a path, one path component each, and the same whoever comes first."""
    documents = list(dict(documents).items())
    found = folders(documents)
    assert list(found) == [path for path, _ in documents]
    assert len({unicodedata.normalize("NFC", name.casefold()) for name in found.values()}) == len(found)
    for name in found.values():
        assert name.strip(". ") == name != ""
        assert not set(name) & set('/\\:*?"<>|\0\n')
        assert len(name.encode("utf-8", "surrogatepass")) <= MAX_BYTES
    assert folders(documents[::-1]) == found
