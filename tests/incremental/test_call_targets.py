"""C1: what a call's target may mean, what is suggested for one that means nothing, and cycles."""

import time

import pytest

from pipeline.project import Project, ProjectDocument


def document(path: str, name: str, *calls: str) -> ProjectDocument:
    return ProjectDocument(path, name, calls)


OFFICE = Project(
    [
        document("uketsuke.md", "受付", "審査"),
        document("shinsa/shinsa.md", "審査"),
        document("shinsa/kyu.md", "旧審査"),
        document("a.md", "送付"),
        document("b.md", "送付"),
        document("half.md", "ＡＢＣ 手順"),
        document("../else/sub/x.md", "隣のフォルダー"),
    ]
)


@pytest.mark.parametrize(
    ("target", "caller", "paths"),
    [
        ("審査", "uketsuke.md", ["shinsa/shinsa.md"]),
        (" 審査\u3000", "uketsuke.md", ["shinsa/shinsa.md"]),
        ("ABC 手順", "uketsuke.md", ["half.md"]),
        ("shinsa/shinsa.md", "uketsuke.md", ["shinsa/shinsa.md"]),
        ("./shinsa/../shinsa/kyu.md", "uketsuke.md", ["shinsa/kyu.md"]),
        ("kyu.md", "shinsa/shinsa.md", ["shinsa/kyu.md"]),
        ("../a.md", "shinsa/shinsa.md", ["a.md"]),
        ("../../a.md", "shinsa/shinsa.md", []),
        ("/a.md", "uketsuke.md", []),
        ("sub/x.md", "../else/c.md", ["../else/sub/x.md"]),
        ("a", "uketsuke.md", []),
        ("送付", "uketsuke.md", ["a.md", "b.md"]),
        ("", "uketsuke.md", []),
        ("．／ａ．ｍｄ", "uketsuke.md", ["a.md"]),
        ("abc 手順", "uketsuke.md", []),
    ],
)
def test_a_target_is_a_name_or_a_path_from_the_caller(target: str, caller: str, paths: list[str]) -> None:
    """Names and paths are compared after NFKC and trimming; a path never leaves the project."""
    assert [found.path for found in OFFICE.find(target, caller)] == paths


def test_a_document_found_by_name_and_by_path_is_found_once() -> None:
    """A document whose name is its own path is not ambiguous with itself."""
    project = Project([document("a.md", "a.md")])
    assert [found.path for found in project.find("a.md", "b.md")] == ["a.md"]


def test_a_name_that_is_another_documents_path_is_ambiguous() -> None:
    """Neither reading of the target wins."""
    project = Project([document("a.md", "甲"), document("z.md", "a.md")])
    assert [found.path for found in project.find("a.md", "b.md")] == ["a.md", "z.md"]


def test_close_names_are_suggested_best_first() -> None:
    """A slip of one character, a part of a name and a file's stem lead to the name; nothing close leads to nothing."""
    project = Project(
        [document("shime.md", "締め処理"), document("b.md", "月次の締め処理"), document("c.md", "経費精算")]
    )
    assert project.suggest("締め処置")[0] == "締め処理"
    assert set(project.suggest("締め")) == {"締め処理", "月次の締め処理"}
    assert project.suggest("shime") == ("締め処理",)
    assert project.suggest("まったく別の業務") == ()
    assert project.suggest("") == ()


def test_at_most_five_names_are_suggested() -> None:
    """Twenty equally close names do not become twenty suggestions."""
    project = Project([document(f"{n}.md", f"締め処理{n}") for n in range(20)])
    assert len(project.suggest("締め処理")) == 5


@pytest.mark.parametrize(
    ("documents", "target", "caller", "cycle"),
    [
        ([document("a.md", "甲", "甲")], "甲", "a.md", ("甲", "甲")),
        ([document("a.md", "甲", "乙"), document("b.md", "乙", "a.md")], "乙", "a.md", ("甲", "乙", "甲")),
        (
            [document("a.md", "受付", "審査"), document("b.md", "審査", "再審査"), document("c.md", "再審査", "審査")],
            "審査",
            "a.md",
            ("受付", "審査", "再審査", "審査"),
        ),
        ([document("a.md", "甲", "乙"), document("b.md", "乙", "丙"), document("c.md", "丙")], "乙", "a.md", ()),
        ([document("a.md", "甲", "乙"), document("b.md", "乙", "無い")], "乙", "a.md", ()),
    ],
)
def test_a_cycle_is_given_as_its_whole_path(
    documents: list[ProjectDocument], target: str, caller: str, cycle: tuple[str, ...]
) -> None:
    """Also one further down, from the caller to the second visit of the repeated document."""
    project = Project(documents)
    (found,) = project.find(target, caller)
    assert project.cycle(found, caller) == cycle


def test_an_ambiguous_call_closes_no_cycle() -> None:
    """A call that leads nowhere runs nothing."""
    project = Project([document("a.md", "甲", "乙"), document("b.md", "乙", "甲"), document("c.md", "甲")])
    (found,) = project.find("乙", "a.md")
    assert project.cycle(found, "a.md") == ()


def test_the_digest_tells_names_paths_and_calls_apart_and_no_order() -> None:
    """Equal digests answer every question equally (R1)."""
    documents = [document("a.md", "甲", "乙"), document("b.md", "乙")]
    digest = Project(documents).digest
    assert Project(reversed(documents)).digest == digest
    for changed in (document("c.md", "甲", "乙"), document("a.md", "丙", "乙"), document("a.md", "甲", "丙")):
        assert Project([changed, documents[1]]).digest != digest


def test_ten_thousand_documents_in_a_row_are_walked_without_recursion() -> None:
    """Time grows linearly with the project: a chain that ends, and the same chain closed to a ring."""
    chain = [document(f"{n}.md", f"手順{n}", f"手順{n + 1}") for n in range(10_000)]
    started = time.process_time()
    assert Project(chain).cycle(chain[1], "0.md") == ()
    ring = Project([*chain, document("end.md", "手順10000", "手順0")])
    assert len(ring.cycle(chain[1], "0.md")) == 10_002
    assert time.process_time() - started < 20  # with the square of their number it would be minutes
