"""The compiled form: fast, never trusted when damaged, never in the way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from catalog_files import CONFORMANCE, STOCK, write
from hypothesis import given
from hypothesis import strategies as st

from catalog import cache
from catalog.compile import encode
from catalog.compiled import Damaged, Entry, decode
from catalog.errors import CatalogError
from catalog.load import SHIPPED, load_catalog
from catalog.source import compile_files

ROOT = Path(__file__).parent.parent.parent


def compiled(folder: Path) -> list[Path]:
    return sorted(folder.glob("catalog-*.jsonl"))


def test_a_cached_catalog_equals_a_read_one(tmp_path: Path) -> None:
    """Every tool and every answer."""
    read = load_catalog([CONFORMANCE], None, tmp_path)
    cached = load_catalog([CONFORMANCE], None, tmp_path)
    assert len(compiled(tmp_path)) == 1
    assert cached.digest == read.digest
    assert cached.tools() == read.tools()
    assert cached.suggest_tools("表計算", None) == read.suggest_tools("表計算", None)


def test_a_hit_imports_no_reader(tmp_path: Path) -> None:
    """Start-up time: neither PyYAML nor the checks nor rapidfuzz are loaded for a document without a mistake."""
    config = write(tmp_path, "mcp.json", '{"mcpServers": {"my_crm": {"command": "x"}}}')
    folder = tmp_path / "cache"
    load_catalog([CONFORMANCE], config, folder)
    program = (
        "import sys; from pathlib import Path; from catalog.load import load_catalog\n"
        f"catalog = load_catalog([Path({str(CONFORMANCE)!r})], Path({str(config)!r}), Path({str(folder)!r}))\n"
        "assert catalog.tool('slack').operations and catalog.tool('my_crm') and catalog.digest\n"
        "print([name for name in ('yaml', 'rapidfuzz', 'catalog.source', 'catalog.nodes') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_changed_bytes_are_another_entry(tmp_path: Path) -> None:
    """Found by content, not by name or time."""
    path = write(tmp_path, "a.yaml", STOCK)
    folder = tmp_path / "cache"
    before = load_catalog([path], None, folder)
    stamp = path.stat()
    path.write_text(STOCK.replace("effect: read", "effect: write"), encoding="utf-8")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = load_catalog([path], None, folder)
    assert before.digest != after.digest
    assert len(compiled(folder)) == 2


def test_files_and_servers_do_not_stand_for_each_other(tmp_path: Path) -> None:
    """The same bytes as a catalog file and as an `mcpServers` file mean different things."""
    assert cache.key_of([b"a", b"b"]) != cache.key_of([b"ab"])
    assert cache.key_of([b"a", b"b"]) != cache.key_of([b"b", b"a"])
    assert cache.key_of([b"a"]) != cache.key_of([b"a", b""])


@pytest.mark.parametrize("damage", ["empty", "cut", "flipped", "foreign", "folder"])
def test_a_damaged_entry_is_read_again_and_mended(tmp_path: Path, damage: str) -> None:
    """An interrupted write, a full disk, a bad block: the catalog is right all the same."""
    right = load_catalog([CONFORMANCE], None, tmp_path)
    (entry,) = compiled(tmp_path)
    content = entry.read_bytes()
    if damage == "folder":
        entry.unlink()
        entry.mkdir()
    else:
        changed = {"empty": b"", "cut": content[: len(content) // 2], "foreign": b"{}"}
        entry.write_bytes(changed.get(damage, content.replace(b'"write"', b'"read" ', 1)))
    assert load_catalog([CONFORMANCE], None, tmp_path).tools() == right.tools()
    if damage != "folder":
        assert entry.read_bytes() == content


@given(st.data())
def test_no_damage_is_ever_believed(data: st.DataObject) -> None:
    """Whatever byte changes, a seal does not fit: the head's at once, a tool's when it is asked for."""
    content = bytearray(_sample())
    at = data.draw(st.integers(0, len(content) - 1))
    content[at] ^= data.draw(st.integers(1, 255))
    entries = _decode(bytes(content))
    if entries is not None:
        with pytest.raises(Damaged):
            for entry in entries:
                entry.tool()


@given(st.binary(max_size=400))
def test_foreign_bytes_are_never_decoded(content: bytes) -> None:
    """Anything but what was encoded is None, not an exception."""
    assert _decode(content) is None


def _decode(content: bytes) -> list[Entry] | None:
    return decode(lambda offset, length: content[offset : offset + length])


def _sample() -> bytes:
    return encode(compile_files([(Path("a.yaml"), STOCK.encode())]))


@pytest.mark.parametrize("damage", ["removed", "cut", "flipped"])
def test_a_section_that_is_damaged_after_the_load_is_compiled_again(tmp_path: Path, damage: str) -> None:
    """Tools are unpacked when asked for; by then another process may have cleaned up, or the disk have failed."""
    right = load_catalog([CONFORMANCE]).tool("slack")
    load_catalog([CONFORMANCE], None, tmp_path)
    catalog = load_catalog([CONFORMANCE], None, tmp_path)
    (entry,) = compiled(tmp_path)
    content = entry.read_bytes()
    if damage == "removed":
        entry.unlink()
    else:
        half = content[: len(content) // 2]
        entry.write_bytes(half if damage == "cut" else half + bytes(byte ^ 1 for byte in content[len(half) :]))
    assert catalog.tools() == load_catalog([CONFORMANCE]).tools()
    assert catalog.tool("slack") == right
    assert entry.read_bytes() == content


def test_a_catalog_that_changes_while_it_is_used_is_not_mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of an old and half of a new shipped catalog would be neither."""
    data = tmp_path / "data"
    shutil.copytree(SHIPPED, data, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("catalog.load.SHIPPED", data)
    load_catalog(cache_dir=tmp_path / "cache")
    catalog = load_catalog(cache_dir=tmp_path / "cache")
    for entry in (*compiled(tmp_path / "cache"), *compiled(data / "__pycache__")):
        entry.unlink()
    text = (data / "slack.yaml").read_text(encoding="utf-8")
    (data / "slack.yaml").write_text(text.replace("title: 通知", "title: お知らせ"), encoding="utf-8")
    with pytest.raises(CatalogError) as caught:
        catalog.tool("slack")
    assert caught.value.reason == "file-changed"


def test_servers_cached_beside_other_tools_are_still_refused(tmp_path: Path) -> None:
    """The name of a server is free in one catalog and taken in another."""
    config = write(tmp_path, "mcp.json", '{"mcpServers": {"sandbox": {"command": "x"}}}')
    stock = write(tmp_path, "a.yaml", STOCK)
    folder = tmp_path / "cache"
    assert load_catalog([stock], config, folder).tool("sandbox") is not None
    with pytest.raises(CatalogError) as caught:
        load_catalog([CONFORMANCE], config, folder)
    assert (caught.value.reason, caught.value.line) == ("server-is-tool", 1)


def test_an_unwritable_folder_is_no_error(tmp_path: Path) -> None:
    """A read-only checkout, a file where the folder should be."""
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    for folder in (blocked, blocked / "below", Path("/proc/nowhere")):
        assert load_catalog([CONFORMANCE], None, folder).tool("slack") is not None
    assert blocked.read_text() == "not a folder"


def test_old_entries_are_removed(tmp_path: Path) -> None:
    """A catalog that is edited all day leaves a bounded number behind, the newest among them."""
    path = tmp_path / "a.yaml"
    folder = tmp_path / "cache"
    for number in range(cache.KEEP + 4):
        path.write_text(f"# {number}\n{STOCK}", encoding="utf-8")
        load_catalog([path], None, folder)
    entries = compiled(folder)
    assert len(entries) == cache.KEEP
    assert cache.key_of([path.read_bytes()]) in "".join(entry.name for entry in entries)
    assert not list(folder.glob(".*"))


def test_processes_that_write_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    """Each of them sees a whole file or none, and all of them the same catalog."""
    program = (
        "import sys; from pathlib import Path; from catalog.load import load_catalog\n"
        f"for _ in range(6):\n"
        f"    for entry in Path({str(tmp_path)!r}).glob('catalog-*'): entry.unlink(missing_ok=True)\n"
        f"    print(load_catalog([Path({str(CONFORMANCE)!r})], None, Path({str(tmp_path)!r})).digest)"
    )
    workers = [
        subprocess.Popen([sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    outcomes = [worker.communicate(timeout=60) for worker in workers]
    assert [error for _, error in outcomes] == [b""] * 4
    assert {line for output, _ in outcomes for line in output.split()} == {load_catalog([CONFORMANCE]).digest.encode()}
    assert all(_decode(entry.read_bytes()) is not None for entry in compiled(tmp_path))
    assert not list(tmp_path.glob(".*"))
