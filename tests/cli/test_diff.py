"""`aop diff`: nothing that a reviewer must see is missing, and nothing else is shown."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import BAD, GOOD, Run, command, write
from hypothesis import given
from hypothesis import strategies as st

from catalog.load import load_catalog
from cli.review.forms import as_markdown
from cli.review.outline import Difference, Heading, Point
from pipeline.project import Project
from pipeline.review.compare import compare
from pipeline.review.match import match
from pipeline.review.version import Version
from pipeline.stages.parse import parse
from pipeline.stages.resolve import resolve

C = ("--catalog", "catalog.yaml")
READ = "# 集計\n\n全体の説明。\n\n## フェーズ 1: 読む (使う道具: google_workspace の drive (read-only))\n\nよく読む。\n"
SEND = "\n## フェーズ 2: 知らせる (使う道具: slack の notify)\n\n投稿する。\n"


def diff(run: Run, old: str, new: str) -> dict[str, list[dict[str, object]]]:
    """The JSON form of a comparison of two texts."""
    write("old.md", old)
    write("new.md", new)
    found: dict[str, list[dict[str, object]]] = json.loads(
        run("diff", "old.md", "new.md", *C, "--format", "json", code=0).stdout
    )
    return found


def test_no_difference(inside: Run) -> None:
    """Comments, blank lines and indentation are none."""
    found = diff(inside, READ, READ.replace("全体", "<!-- 秘密 -->\n\n\n全体"))
    assert found["phases"] == []
    assert found["diagnostics"] == {"appeared": [], "gone": []}
    assert "違いはありません" in inside("diff", "old.md", "new.md", *C, code=0).stdout


def test_text(inside: Run) -> None:
    """The phase's prose as a unified diff, and that of text outside all phases apart from it."""
    found = diff(inside, READ, READ.replace("よく読む", "もう読まない").replace("全体", "全部"))
    (phase,) = found["phases"]
    assert [line for line in phase["text"] if line[0] in "+-"] == ["-よく読む。", "+もう読まない。"]
    assert [line for line in found["shared"]["text"] if line[0] in "+-"] == ["-全体の説明。", "+全部の説明。"]
    assert phase["tools"] == []


def test_a_right_to_write_is_the_first_thing_said(inside: Run) -> None:
    """From reading to writing: marked, with the operations and their effect."""
    found = diff(inside, READ, READ.replace(" (read-only)", ""))
    (tool,) = found["phases"][0]["tools"]
    assert tool["begins_writing"]
    assert tool["granted"] == [{"operation": "create_drive_file", "effect": "write"}]
    assert tool["withdrawn"] == []
    lines = inside("diff", "old.md", "new.md", *C, "--lang", "en", code=0).stdout.splitlines()
    assert lines[1] == "  ! It may now write to google_workspace."
    assert "  + Operations granted (writing): create_drive_file" in lines
    markdown = inside("diff", "old.md", "new.md", *C, "--lang", "en", "--format", "markdown", code=0).stdout
    assert "- **⚠ It may now write to google\\_workspace.**" in markdown


def test_a_right_that_is_given_up(inside: Run) -> None:
    """The other way round."""
    found = diff(inside, READ.replace(" (read-only)", ""), READ)
    (tool,) = found["phases"][0]["tools"]
    assert not tool["begins_writing"]
    assert tool["withdrawn"] == [{"operation": "create_drive_file", "effect": "write"}]


def test_tools_granted_and_withdrawn(inside: Run) -> None:
    """Of phases too: a new phase's tools are granted, those of one that is gone withdrawn."""
    found = diff(inside, READ, READ + SEND)
    (phase,) = found["phases"]
    assert (phase["change"], phase["new"]) == ("added", {"number": 2, "title": "知らせる"})
    assert phase["tools"][0]["begins_writing"]
    assert phase["tools"][0]["new"]["declared"] == ["slack の notify"]
    (gone,) = diff(inside, READ + SEND, READ)["phases"]
    assert gone["change"] == "removed"
    assert [entry["operation"] for entry in gone["tools"][0]["withdrawn"]] == ["post_message", "list_channels"]


def test_a_server_of_unknown_operations(inside: Run) -> None:
    """All of it, which may write; read-only it may not."""
    write("mcp.json", '{"mcpServers": {"my_crm": {"url": "http://127.0.0.1:9/mcp"}}}')
    write("old.md", "# a\n\nする。(使う道具: my_crm (read-only))\n")
    write("new.md", "# a\n\nする。(使う道具: my_crm)\n")
    text = inside("diff", "old.md", "new.md", "--mcp-config", "mcp.json", "--lang", "en", code=0).stdout
    assert "! It may now write to my_crm." in text
    assert "The operations of my_crm are known when it is connected" in text


def test_inserted_moved_and_renumbered_phases(inside: Run) -> None:
    """Phases match by content: an inserted one changes none of the others but their number."""
    third = "\n## フェーズ 3: 終える (使う道具: なし)\n\n片付ける。\n"
    inserted = READ + "\n## フェーズ 2: 待つ (使う道具: hitl)\n\n待つ。\n" + SEND.replace("2:", "3:")
    found = diff(inside, READ + SEND, inserted)["phases"]
    assert [(p["change"], p["new"]["number"], p["old"] and p["old"]["number"]) for p in found] == [
        ("added", 2, None),
        ("changed", 3, 2),
    ]
    assert found[1]["text"] == found[1]["tools"] == []
    moved = READ + third.replace("3:", "2:") + SEND.replace("2:", "3:")
    found = diff(inside, READ + SEND + third, moved)["phases"]
    assert sorted(p["moved"] for p in found) == [False, True]


def test_an_edited_phase_is_not_a_new_one(inside: Run) -> None:
    """Also with another title and number: it is known by its text."""
    edited = SEND.replace("フェーズ 2: 知らせる", "フェーズ 7: 通知する").replace(
        "投稿する。", "一言を添えて投稿する。"
    )
    body = "投稿する前に、宛先と数字をもう一度確かめる。\n\n" * 3
    (phase,) = diff(inside, READ + SEND + body, READ + edited + body)["phases"]
    assert (phase["change"], phase["old"]["number"], phase["new"]["number"]) == ("changed", 2, 7)


def test_fences(inside: Run) -> None:
    """Changed, new and gone ones, with their lines; trailing spaces are shown."""
    fence = "\n```sql\nselect 1\n```\n"
    (phase,) = diff(inside, READ + fence, READ + fence.replace("1", "1 "))["phases"]
    assert phase["fences"] == [
        {
            "old": {"language": "sql", "text": "select 1\n"},
            "new": {"language": "sql", "text": "select 1 \n"},
            "diff": ["@@ -1 +1 @@", "-select 1", "+select 1 "],
        }
    ]
    assert diff(inside, READ, READ + fence)["phases"][0]["fences"][0]["old"] is None
    assert diff(inside, READ + fence, READ)["phases"][0]["fences"][0]["new"] is None


def test_hand_overs(inside: Run) -> None:
    """What is handed to which operation, and that it writes."""
    above = "# 集計\n\n## フェーズ 1: 流す\n\nproject_id: acme mode: append\n\n(この SQL を bigquery の query"
    below = " に、そのまま渡す)\n\n```sql\nselect 1\n```\n"
    (phase,) = diff(inside, above + " (read-only)" + below, above + below)["phases"]
    assert [(h["change"], h["operations"], h["writes"]) for h in phase["handovers"]] == [
        ("granted", ["run_dml"], True),
        ("withdrawn", ["run_query"], False),
    ]
    assert "! 囲みを bigquery にそのまま渡し、書き込みます。" in inside("diff", "old.md", "new.md", *C, code=0).stdout


def test_calls_and_the_name(inside: Run) -> None:
    """Another called AOP, another name."""
    write("a.md", GOOD)
    write("b.md", GOOD.replace("週次", "月次"))
    old = "# 親\n\n(呼び出す AOP: 週次報告)\n"
    (phase,) = diff(inside, old, old.replace("週次", "月次").replace("親", "本家"))["phases"]
    assert phase["calls"] == {"old": "週次報告", "new": "月次報告"}
    assert "親" in inside("diff", "old.md", "new.md", *C, code=0).stdout


def test_diagnostics_that_appeared_and_went(inside: Run) -> None:
    """By what they are about, not by where they stand."""
    found = diff(inside, BAD, "\n\n" + BAD.replace("集める。", "slack で集める。"))["diagnostics"]
    assert found == {"appeared": [], "gone": []}
    found = diff(inside, BAD, GOOD)["diagnostics"]
    assert ([d["name"] for d in found["gone"]], found["appeared"]) == (["tool-unreadable"], [])


def test_unreadable_versions(inside: Run) -> None:
    """A version that is no text still compares: everything came, or went."""
    assert diff(inside, "", GOOD)["phases"][0]["change"] == "added"
    assert diff(inside, GOOD, "")["diagnostics"]["appeared"][0]["name"] == "document-unreadable"


def test_an_earlier_version_from_a_pipe(here: Path, environment: dict[str, str]) -> None:
    """`git show HEAD:a.md | aop diff - a.md`, or the shell's `<(…)`: it is taken to lie where the other one does."""
    write("p/weekly.md", GOOD)
    write("p/a.md", "# 親\n\n(呼び出す AOP: weekly.md)\n")
    write("old.md", "# 親\n\n前の文。(呼び出す AOP: weekly.md)\n")
    aop = " ".join(command("diff"))
    for line in (f"{aop} - p/a.md {' '.join(C)} < old.md", f"{aop} <(cat old.md) p/a.md {' '.join(C)}"):
        done = subprocess.run(
            ["bash", "-c", f"{line} --lang en"],
            cwd=here,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert "-前の文。" in done.stdout
        assert "Diagnostics" not in done.stdout


@pytest.mark.parametrize("arguments", [("old.md", "none.md"), ("none.md", "old.md"), ("-", "-"), (".", "old.md")])
def test_what_cannot_be_compared(inside: Run, arguments: tuple[str, str]) -> None:
    """One sentence, exit status 2."""
    write("old.md", GOOD)
    assert inside("diff", *arguments, *C, code=2).stderr.startswith("aop: ")


# ------------------------------------------------------------------------------------------------ properties

CATALOG = load_catalog([Path(__file__).parents[1] / "conformance" / "catalog.yaml"])
PHASES = st.lists(
    st.tuples(
        st.sampled_from("あいうえ"), st.sampled_from(["読む。", "書く。", "待つ。"]), st.sampled_from(["hitl", "slack"])
    ),
    max_size=6,
)


def version(phases: list[tuple[str, str, str]]) -> Version:
    """A document of these phases: title, text, tool."""
    text = "# 手順\n\n" + "".join(
        f"## フェーズ {number}: {title} (使う道具: {tool})\n\n{body}\n\n"
        for number, (title, body, tool) in enumerate(phases, 1)
    )
    parsed = parse(text.encode(), "x")
    assert parsed.artifact is not None
    resolved = resolve(parsed.artifact, CATALOG, Project(()), "x.md")
    return Version("x.md", "", parsed.artifact, resolved.artifact, ())


@given(PHASES)
def test_a_version_does_not_differ_from_itself(phases: list[tuple[str, str, str]]) -> None:
    """Whatever repeats in it."""
    assert compare(version(phases), version(phases)).empty


@given(PHASES, PHASES)
def test_every_phase_is_accounted_for_once(old: list[tuple[str, str, str]], new: list[tuple[str, str, str]]) -> None:
    """No phase of either version is matched twice; what is granted this way is withdrawn that way."""
    before, after = version(old), version(new)
    pairs = match(before.phases(), after.phases())
    assert len(set(pairs.values())) == len(pairs)
    there, back = compare(before, after), compare(after, before)
    granted = sorted(tool.tool for change in there.phases for tool in change.tools if tool.old is None)
    withdrawn = sorted(tool.tool for change in back.phases for tool in change.tools if tool.new is None)
    assert granted == withdrawn


@given(st.text(), st.lists(st.text(alphabet="`ab \n", max_size=8).map(lambda text: text.replace("\n", "")), max_size=3))
def test_markdown_cannot_be_broken_out_of(title: str, lines: list[str]) -> None:
    """A fence around a diff is longer than any in it; titles are escaped."""
    entries = [Heading(title.replace("\n", " ")), Point("x"), Difference(tuple(lines))]
    printed = list(as_markdown(entries, "題"))
    opening = next(line for line in printed if line.endswith("diff"))
    marks = opening.strip().removesuffix("diff")
    assert all(marks not in line for line in lines)
    assert "<" not in printed[2].replace("\\<", "")
