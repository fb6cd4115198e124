"""Which documents a command line names (section 9)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from cli.discovery import Named, Unusable, discover, folder_documents
from cli.trouble import sentence

OUT = Path("build")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(*paths: str) -> None:
    """Documents at these paths."""
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("# x\n", encoding="utf-8")


def paths(*names: str, out: Path = OUT) -> list[str]:
    """The paths of the documents named, as results show them."""
    return [named.path for named in discover(names, out).documents]


def complaints(*names: str) -> list[str]:
    """What is said about names that cannot be used."""
    with pytest.raises(Unusable) as caught:
        discover(names, OUT)
    return [str(sentence(fault, "en")) for fault in caught.value.faults]


def test_a_folder_is_its_markdown_in_path_order() -> None:
    """Recursively; other files do not count."""
    write("d/b.md", "d/a/z.md", "d/a.md", "d/c/x/y.md", "d/notes.txt", "d/readme.MD")
    assert paths("d") == ["d/a/z.md", "d/a.md", "d/b.md", "d/c/x/y.md"]


def test_hidden_files_and_folders_and_the_output_are_left_out() -> None:
    """Also an output folder of another name, and the lock files of editors, which are links that lead nowhere."""
    write("a.md", ".hidden.md", ".git/x.md", "build/report/x.md", "out/y.md", "sub/build/z.md")
    Path(".#a.md").symlink_to("nobody@nowhere")
    assert paths(".") == ["a.md", "out/y.md", "sub/build/z.md"]
    assert paths(".", out=Path("out")) == ["a.md", "build/report/x.md", "sub/build/z.md"]


def test_a_folder_that_is_the_output_itself_is_read() -> None:
    """`--out .` must not hide every document."""
    write("a.md", "sub/b.md")
    assert paths(".", out=Path()) == ["a.md", "sub/b.md"]
    assert paths("*.md", out=Path()) == ["a.md"]


def test_a_named_folder_may_be_hidden() -> None:
    """Whoever names it means it."""
    write(".drafts/a.md")
    assert paths(".drafts") == [".drafts/a.md"]


def test_the_same_file_compiles_once() -> None:
    """However often and by whatever name it is given; where it was named first counts."""
    write("d/a.md", "b.md")
    Path("link.md").symlink_to("b.md")
    assert paths("d/a.md", "./d/../d/a.md", "d", str(Path("d/a.md").absolute()), "b.md", "link.md") == [
        "d/a.md",
        "b.md",
    ]


def test_the_shape_of_json_follows_what_was_named() -> None:
    """A folder and a pattern are several even if they hold one document; one file named twice is one."""
    write("d/a.md")
    assert not discover(["d/a.md"], OUT).several
    assert not discover(["d/a.md", "./d/a.md"], OUT).several
    assert not discover(["-"], OUT).several
    assert discover(["d"], OUT).several
    assert discover(["d/*.md"], OUT).several
    assert discover(["d/a.md", "-"], OUT).several


def test_patterns() -> None:
    """As a shell would read them, in path order, recursively with `**`, never into the output."""
    write("d/a.md", "d/b.txt", "d/e/c.md", "build/x.md", "[x].md", "x.md")
    assert paths("d/*.md") == ["d/a.md"]
    assert paths("d/*") == ["d/a.md", "d/b.txt", "d/e/c.md"]
    assert paths("**/*.md") == ["[x].md", "d/a.md", "d/e/c.md", "x.md"]
    assert paths("[x].md") == ["[x].md"]


def test_standard_input() -> None:
    """Once, whatever is said."""
    assert discover(["-", "-"], OUT).documents == (Named("-", ""),)


def test_paths_are_shown_from_the_current_folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative where the file lies below it, as given otherwise."""
    write("w/d/a.md", "other/b.md")
    monkeypatch.chdir("w")
    assert paths("./d/a.md") == ["d/a.md"]
    assert paths(str(here / "w" / "d")) == ["d/a.md"]
    assert paths("../other/b.md") == ["../other/b.md"]
    assert paths("../other") == ["../other/b.md"]
    assert paths(str(here / "other" / "b.md")) == [str(here / "other" / "b.md")]


def test_a_current_folder_entered_through_a_link(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An absolute path through the link still lies below it."""
    write("real/a.md")
    Path("link").symlink_to("real")
    monkeypatch.chdir("link")
    assert paths(str(here / "link" / "a.md")) == ["a.md"]


def test_links() -> None:
    """To a file: followed. To a folder inside a folder: not, it may lead in a circle."""
    write("d/a.md", "elsewhere/b.md")
    Path("d/loop").symlink_to("..")
    Path("d/b.md").symlink_to("../elsewhere/b.md")
    Path("d/c.md").symlink_to("../elsewhere")
    assert paths("d") == ["d/a.md", "d/b.md"]


def test_file_names_that_are_not_utf_8() -> None:
    """Are kept as they are."""
    name = os.fsdecode(b"d/\xff.md")
    write(name)
    assert paths("d") == [name]


def test_everything_wrong_is_said_at_once() -> None:
    """A sentence each, with what to do."""
    Path("empty").mkdir()
    Path("gone.md").symlink_to("nowhere.md")
    assert complaints("missing.md", "empty", "none*.md", "gone.md", "", "x" * 300) == [
        "missing.md: there is no such file or folder. Check the path.",
        "empty: there are no documents (*.md) in this folder.",
        "none*.md: no file matches. Check the pattern.",
        "gone.md: the link leads nowhere. Mend the link.",
        "The name of a document is empty. Name a file or a folder.",
        f"{'x' * 300}: the name is too long. Shorten it.",
    ]


def test_a_folder_deeper_than_recursion_reaches() -> None:
    """Depth costs nothing but the walk."""
    deep = "/".join(["d"] * 900)
    Path(deep).mkdir(parents=True)
    descriptor = os.open(deep, os.O_RDONLY)
    os.close(os.open("a.md", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)
    assert paths("d") == [f"{deep}/a.md"]


def test_a_folder_without_a_command_line() -> None:
    """The project of a single document: the same documents in the same order."""
    Path("d").mkdir()
    for number in range(300):
        Path(f"d/{number:04}.md").touch()
    assert [named.path for named in folder_documents("d", OUT)] == [f"d/{number:04}.md" for number in range(300)]
