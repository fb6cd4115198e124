"""`添付ファイル`: the files of the run, and nothing outside its folder."""

from __future__ import annotations

import asyncio
import os
import socket
import unicodedata
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aop_runtime.declarations import Json, Standard
from aop_runtime.plane.envelope import Envelope
from aop_runtime.plane.spec import ToolCall
from aop_runtime.standard import attachments
from aop_runtime.standard.attachments import AttachmentsSource
from tests.runtime.plane.given import plane

OTHERS = "他人の内容"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run's folder with one attachment, and a secret beside it."""
    (tmp_path / "secret.txt").write_text(OTHERS, encoding="utf-8")
    folder = tmp_path / "run" / "attachments"
    folder.mkdir(parents=True)
    (folder / "一覧.csv").write_bytes("会社,金額\nねこ,100\n".encode("cp932"))
    return tmp_path / "run"


def call(run: Path, name: str, arguments: Mapping[str, object]) -> Envelope:
    async def made() -> Envelope:
        tools = await AttachmentsSource().tools(Standard("添付ファイル"))
        return await plane(tools, folder=run).call(ToolCall("c1", name, arguments))

    return asyncio.run(made())


def read(run: Path, name: str, **more: object) -> Envelope:
    return call(run, "read_attachment", {"name": name, **more})


def refused(envelope: Envelope) -> str:
    assert envelope.error is not None
    assert envelope.error.code == "invalid_input"
    assert OTHERS not in repr(envelope)
    return envelope.error.message


def names(run: Path) -> list[str]:
    envelope = call(run, "list_attachments", {})
    assert envelope.ok
    assert isinstance(envelope.structured, dict)
    entries = envelope.structured["attachments"]
    assert isinstance(entries, list)
    return [str(entry["name"]) for entry in entries if isinstance(entry, dict)]


def test_what_was_given_is_listed_with_what_it_is(run: Path) -> None:
    """Names with their folders, sizes, and kinds told from the contents, not from the names."""
    folder = run / "attachments"
    (folder / "a").mkdir()
    (folder / "a" / "契約.txt").write_bytes(b"%PDF-1.7 ...")
    (folder / "空.md").touch()
    envelope = call(run, "list_attachments", {})
    assert envelope.structured == {
        "attachments": [
            {"name": "a/契約.txt", "bytes": 12, "kind": "PDF"},
            {"name": "一覧.csv", "bytes": 19, "kind": "text (cp932)"},
            {"name": "空.md", "bytes": 0, "kind": "empty"},
        ]
    }
    assert "一覧.csv\t19 bytes\ttext (cp932)" in envelope.content


def test_without_a_folder_there_are_no_files(tmp_path: Path) -> None:
    """A run need not have been given any."""
    assert names(tmp_path) == []


def test_a_text_is_read_in_its_own_encoding(run: Path) -> None:
    """And says which it was, and how long the whole is."""
    envelope = read(run, "一覧.csv")
    assert envelope.content == "会社,金額\nねこ,100\n"
    assert envelope.structured == {
        "name": "一覧.csv", "encoding": "cp932", "characters": 13, "offset": 0, "next_offset": None,
    }  # fmt: skip


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16", "cp932"])
def test_no_mark_of_order_is_part_of_the_text(run: Path, codec: str) -> None:
    """A byte order mark says how to read, and is not read itself."""
    (run / "attachments" / "x.txt").write_bytes("売上、です。".encode(codec))
    assert read(run, "x.txt").content == "売上、です。"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.sampled_from("あ😀a\n"), max_size=60), length=st.integers(min_value=1, max_value=25))
def test_ranges_put_together_are_the_whole(run: Path, text: str, length: int) -> None:
    """`next_offset` leads through the file without a gap or a character twice."""
    (run / "attachments" / "x.txt").write_bytes(text.encode())
    parts, offset = [], 0
    while True:
        envelope = read(run, "x.txt", offset=offset, length=length)
        parts.append(envelope.content)
        assert isinstance(envelope.structured, dict)
        following = envelope.structured["next_offset"]
        if following is None:
            break
        assert isinstance(following, int)
        assert following > offset
        offset = following
    assert "".join(parts) == text


def test_an_offset_behind_the_end_gives_nothing(run: Path) -> None:
    """It is no fault."""
    assert read(run, "一覧.csv", offset=10**9).content == ""


def test_a_wrong_encoding_that_was_asked_for_is_said(run: Path) -> None:
    """The model can leave it out."""
    assert "leave encoding out" in refused(read(run, "一覧.csv", encoding="utf-8"))
    assert read(run, "一覧.csv", encoding="cp932").ok


def test_binary_files_are_described_and_not_read(run: Path) -> None:
    """What it is and how large: enough to ask a person for a text of it."""
    (run / "attachments" / "x.pdf").write_bytes(b"%PDF-1.7 " + b"\0" * 91)
    envelope = read(run, "x.pdf")
    assert "PDF (100 bytes)" in refused(envelope)
    assert envelope.error is not None
    assert envelope.error.details == {"kind": "PDF", "bytes": 100}


def test_a_file_that_is_too_large_is_not_read(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size is known before a byte of it is in memory: a sparse terabyte costs nothing."""
    with (run / "attachments" / "x.txt").open("wb") as file:
        file.truncate(10**12)
    assert "at most 16777216 are read" in refused(read(run, "x.txt"))


def test_a_name_that_was_composed_otherwise_is_found(run: Path) -> None:
    """Macs write が as か and a mark; a model writes it as one."""
    apart = unicodedata.normalize("NFD", "ガイド.txt")
    (run / "attachments" / apart).write_text("本文です。", encoding="utf-8")
    assert read(run, "ガイド.txt").content == "本文です。"


# ------------------------------------------------------------------------------------------------ outside

_OUTSIDE = [
    "../secret.txt", "../../secret.txt", "a/../../secret.txt", "./一覧.csv", "/etc/passwd", "//etc/passwd", "..", ".",
    "一覧.csv/", "一覧.csv/..", "a//b", "一覧.csv\0.txt", "..\\secret.txt", "~/x", "file:///etc/passwd",
    "%2e%2e/secret.txt",
    "x" * 300, "a/" * 100 + "b", "/proc/self/environ", "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", _OUTSIDE)
def test_no_name_leads_out_of_the_folder(run: Path, name: str) -> None:
    """Whatever a path can mean elsewhere, here it is a name in the folder or none."""
    refused(read(run, name))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.lists(st.sampled_from(["..", ".", "", "/", "a", "一覧.csv", "secret.txt", "\\"]), max_size=6).map("/".join)
)
def test_no_composed_name_leads_out_of_the_folder(run: Path, name: str) -> None:
    """The only file that can be read is the one in it."""
    envelope = read(run, name)
    assert OTHERS not in repr(envelope)
    assert envelope.ok is (name == "一覧.csv")


def test_links_are_not_followed(run: Path, tmp_path: Path) -> None:
    """Neither to files, nor to folders on the way; they are not listed either."""
    folder = run / "attachments"
    (folder / "file").symlink_to(tmp_path / "secret.txt")
    (folder / "inside").symlink_to(folder / "一覧.csv")
    (folder / "folder").symlink_to(tmp_path)
    (folder / "self").symlink_to("/proc/self")
    for name in ("file", "inside", "folder/secret.txt", "self/environ", "folder/run/attachments/一覧.csv"):
        refused(read(run, name))
    assert names(run) == ["一覧.csv"]


def test_a_link_in_the_folders_own_place_is_not_followed(run: Path, tmp_path: Path) -> None:
    """Nothing is read where the folder of attachments is a link."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "attachments").symlink_to(tmp_path)
    refused(read(tmp_path / "other", "secret.txt"))
    assert names(tmp_path / "other") == []


def test_a_second_name_of_a_file_elsewhere_is_refused(run: Path, tmp_path: Path) -> None:
    """A hard link looks like a file of the folder, and is one of somebody else."""
    (run / "attachments" / "hard").hardlink_to(tmp_path / "secret.txt")
    assert "not an ordinary file of its own" in refused(read(run, "hard"))
    assert names(run) == ["一覧.csv"]


def test_what_is_no_ordinary_file_is_not_opened_for_long(run: Path) -> None:
    """Pipes would wait for ever, devices never end."""
    folder = run / "attachments"
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "s"))
        for name in ("pipe", "s"):
            refused(read(run, name))
    if os.geteuid() == 0:
        os.mknod(folder / "zero", 0o600 | 0o020000, os.makedev(1, 5))
        refused(read(run, "zero"))
    assert names(run) == ["一覧.csv"]


def test_a_folder_is_no_text(run: Path) -> None:
    """It can be listed only."""
    (run / "attachments" / "a").mkdir()
    refused(read(run, "a"))


def test_a_flood_of_files_and_folders_is_listed_up_to_a_limit(run: Path) -> None:
    """With a warning; deep folders are not gone down for ever."""
    folder = run / "attachments"
    for number in range(1_100):
        (folder / f"{number:04}.txt").touch()
    envelope = call(run, "list_attachments", {})
    assert envelope.warnings
    deep = run / "attachments" / "0000deep"
    for _ in range(40):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "x.txt").touch()
    assert call(run, "list_attachments", {}).ok


def test_names_that_are_no_text_do_no_harm(run: Path) -> None:
    """A file whose name is no UTF-8 cannot be named by a model, and is left out."""
    descriptor = os.open(os.fsencode(run / "attachments") + b"/\xff\xfe.txt", os.O_CREAT | os.O_WRONLY)
    os.close(descriptor)
    assert names(run) == ["一覧.csv"]


@pytest.mark.parametrize(
    "arguments",
    [{}, {"name": ""}, {"name": "一覧.csv", "offset": -1}, {"name": "一覧.csv", "length": 10**6},
     {"name": "一覧.csv", "encoding": "utf-7"}, {"name": "一覧.csv", "path": "/etc"}, {"name": 1}],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_an_error(run: Path, arguments: dict[str, Json]) -> None:
    """The schema is closed."""
    refused(call(run, "read_attachment", arguments))


def test_one_answer_is_bounded(run: Path) -> None:
    """What is longer is read on from `next_offset`."""
    (run / "attachments" / "x.txt").write_text("あ" * 50_000, encoding="utf-8")
    envelope = read(run, "x.txt")
    assert len(envelope.content) == attachments.MOST_CHARACTERS
    assert envelope.truncation is None
    assert isinstance(envelope.structured, dict)
    assert envelope.structured["next_offset"] == attachments.MOST_CHARACTERS
