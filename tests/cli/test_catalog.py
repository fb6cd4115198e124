"""`aop catalog show`, the organisation's layer, `aop lock`, `diff` and `approve`, end to end."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import Run, write

ORG = """\
version: 1
remove: [chatwork]
tools:
  - name: zaiko
    kind: mcp
    title: 在庫管理
    categories: [{name: stock}, {name: orders}]
    operations:
      - {name: get_stock, category: stock, effect: read, description: 在庫数を返す。}
      - {name: create_order, category: orders, description: 発注を作る。}
  - {name: slack, kind: mcp, title: 社内 Slack, operations: [{name: post, effect: write}]}
"""

DOCUMENT = """\
# 在庫

## フェーズ 1: 調べる (使う道具: zaiko の stock (read-only))

調べる。

## フェーズ 2: 頼む (使う道具: zaiko の orders, slack)

頼む。
"""


@pytest.fixture
def project(inside: Run) -> Run:
    """A project with an organisation's file and one document."""
    write("aop-catalog.yaml", ORG)
    write("docs/stock.md", DOCUMENT)
    return inside


def edit(path: str, old: str, new: str) -> None:
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    write(path, text.replace(old, new))


# ------------------------------------------------------------------------------------------------------- layers


def test_the_organisations_file_of_the_folder_counts(project: Run) -> None:
    """Every command that reads a document knows it."""
    assert project("check", "docs", code=0).stderr == ""
    Path("aop-catalog.yaml").rename("other.yaml")
    project("check", "docs", code=1)
    project("check", "docs", "--org", "other.yaml", code=0)
    project("check", "docs", code=0, env={"AOP_CATALOG_ORG": f"other.yaml{os.pathsep}"})
    for command in (["why", "docs/stock.md"], ["graph", "docs/stock.md"], ["diff", "docs/stock.md", "docs/stock.md"]):
        assert "zaiko" in project(*command, "--org", "other.yaml", code=0).stdout or command[0] != "graph"
    project("compile", "docs/stock.md", "--org=other.yaml", code=0)
    project("verify", "build/stock/procedure.py", "docs/stock.md", "--org", "other.yaml", code=0)


def test_several_organisation_files_go_over_each_other(project: Run) -> None:
    """In the order of the line; the folder's own is not one of them unless it is named."""
    write("more.yaml", "version: 1\nremove: [zaiko]\n")
    project("check", "docs", "--org", "aop-catalog.yaml", "--org", "more.yaml", code=1)
    done = project("check", "docs", "--org", "more.yaml", "--lang", "en", code=2)
    assert done.stderr.startswith('aop: more.yaml:2: "zaiko" in remove is the name of no tool')


def test_a_faulty_organisation_file_is_refused_with_its_line(project: Run) -> None:
    """Whole: a catalog without it would be another one."""
    edit("aop-catalog.yaml", "kind: mcp\n    title", "kind: soap\n    title")
    done = project("check", "docs", code=2)
    assert done.stderr.startswith("aop: aop-catalog.yaml:5: ")
    assert done.stdout == ""


def test_a_dangling_organisation_file_is_a_fault(inside: Run) -> None:
    """A link that leads nowhere must not count as no file."""
    Path("aop-catalog.yaml").symlink_to("nowhere.yaml")
    write("a.md", "# x\n\n(使う道具: なし)\n")
    assert "aop-catalog.yaml" in inside("check", "a.md", code=2).stderr


def test_show_lists_every_tool_with_its_layer(project: Run) -> None:
    """Layer, file and line; what was replaced; what was removed."""
    lines = project("catalog", "show", "--lang", "en", code=0).stdout.splitlines()
    (zaiko,) = [line for line in lines if line.startswith("zaiko")]
    assert zaiko.split() == ["zaiko", "organisation", "aop-catalog.yaml:4"]
    place = lines.index(next(line for line in lines if line.startswith("slack")))
    assert "aop-catalog.yaml:11" in lines[place]
    assert lines[place + 1].strip().startswith("in place of: shipped")
    assert lines[place + 1].endswith("slack.yaml:4") or "slack.yaml:" in lines[place + 1]
    assert lines[-1].startswith("removed: chatwork by aop-catalog.yaml:2 (was: shipped")
    assert any(line.startswith("notion") and " shipped " in line for line in lines)


def test_show_as_json(project: Run) -> None:
    """The same for programs; one tool with its operations."""
    value = json.loads(project("catalog", "show", "--format", "json", code=0).stdout)
    tools = {tool["name"]: tool for tool in value["tools"]}
    assert (tools["zaiko"]["layer"], tools["zaiko"]["line"], tools["zaiko"]["operations"]) == ("organisation", 4, 2)
    assert [place["layer"] for place in tools["slack"]["over"]] == ["shipped"]
    assert [removed["name"] for removed in value["removed"]] == ["chatwork"]
    one = json.loads(project("catalog", "show", "ＺＡＩＫＯ", "--format", "json", code=0).stdout)
    assert [(o["name"], o["effect"]) for o in one["operations"]] == [("get_stock", "read"), ("create_order", "write")]


def test_show_of_one_tool(project: Run) -> None:
    """Its categories as a declaration writes them, and what reads and writes."""
    text = project("catalog", "show", "zaiko", "--lang", "en", code=0).stdout
    assert "zaiko (mcp): 在庫管理" in text
    assert "organisation  aop-catalog.yaml:4" in text
    assert "zaiko の stock" in text
    assert "    write create_order (orders)" in text


def test_show_of_a_tool_that_there_is_not(project: Run) -> None:
    """With what may have been meant; a removed one says who removed it."""
    assert "zaiko" in project("catalog", "show", "zaikoo", code=2).stderr
    assert "aop-catalog.yaml:2" in project("catalog", "show", "chatwork", code=2).stderr


# --------------------------------------------------------------------------------------------------------- lock


def test_lock_pins_what_is_used_and_diff_finds_nothing(project: Run) -> None:
    """The same again writes nothing; the documents are remembered."""
    done = project("lock", "docs", "--lang", "en", code=0)
    assert done.stdout == "aop.lock: 3 operations of 2 tools.\n"
    text = Path("aop.lock").read_text(encoding="utf-8")
    assert json.loads(text)["documents"] == ["docs"]
    assert "as before" in project("catalog", "lock", "--lang", "en", code=0).stdout
    assert Path("aop.lock").read_text(encoding="utf-8") == text
    assert project("catalog", "diff", "--lang", "en", code=0).stdout == "Nothing drifted.\n"
    project("check", "docs", code=0)


def test_drift_is_reported_until_it_is_approved(project: Run) -> None:
    """By check and compile (AOP406), by diff with the documents, and not after approval."""
    project("lock", "docs", code=0)
    edit("aop-catalog.yaml", "effect: read, description: 在庫数を返す。", "description: 在庫数を返す。")
    result = json.loads(project("check", "docs/stock.md", "--format", "json", code=1).stdout)
    (found,) = result["diagnostics"]
    assert (found["code"], found["severity"], found["phase"], found["line"]) == ("AOP406", "error", 1, 3)
    value = json.loads(project("catalog", "diff", "--format", "json", code=1).stdout)
    (drift,) = value["drift"]
    assert (drift["tool"], drift["operation"], drift["kind"]) == ("zaiko", "get_stock", "effect-writes")
    assert (drift["policy"], drift["between"]) == ("approve", ["lock", "catalog"])
    assert drift["documents"] == [{"path": "docs/stock.md", "phases": [1]}]
    text = project("catalog", "diff", "--lang", "en", code=1).stdout
    assert text.splitlines() == [
        "zaiko/get_stock: it only read, and writes now (effect-writes, approve)",
        "    docs/stock.md (phase 1)",
    ]
    project("catalog", "approve", "zaiko/get_stock", code=0)
    project("catalog", "diff", code=0)
    project("check", "docs", code=0)


def test_a_warning_only_warns(project: Run) -> None:
    """`--strict` counts it, as every warning."""
    project("lock", "docs", code=0)
    edit("aop-catalog.yaml", "{name: post, effect: write}", "{name: posts, effect: write}")
    done = project("check", "docs", "--lang", "en", code=0)
    assert "warning[AOP406]" in done.stdout
    assert "has another name (`posts`)" in done.stdout
    project("check", "docs", "--strict", code=1)


def test_what_the_policy_blocks_is_not_approved(project: Run) -> None:
    """Status 1; what is not blocked is."""
    project("lock", "docs", code=0)
    edit("aop.lock", '"effect-writes": "approve"', '"effect-writes": "block"')
    edit("aop-catalog.yaml", "effect: read, description: 在庫数を返す。", "description: 在庫数を返す。")
    edit("aop-catalog.yaml", "発注を作る。", "発注を確定する。")
    done = project("catalog", "approve", "--lang", "en", code=1)
    assert "zaiko/create_order: approved (description-changed)" in done.stdout
    assert "zaiko/get_stock: the policy blocks effect-writes" in done.stderr
    assert json.loads(project("catalog", "diff", "--format", "json", code=1).stdout)["drift"][0]["policy"] == "block"


def test_approve_takes_a_whole_tool_and_refuses_what_has_not_drifted(project: Run) -> None:
    """A misspelt target must not look like an approval."""
    project("lock", "docs", code=0)
    edit("aop-catalog.yaml", "発注を作る。", "発注を確定する。")
    before = Path("aop.lock").read_text(encoding="utf-8")
    project("catalog", "approve", "zaiko/get_stock", code=2)
    project("catalog", "approve", "slack", code=2)
    assert Path("aop.lock").read_text(encoding="utf-8") == before
    done = project("catalog", "approve", "zaiko", "--format", "json", code=0)
    assert json.loads(done.stdout)["approved"] == [{"target": "zaiko/create_order", "kind": "description-changed"}]
    assert project("catalog", "approve", "--lang", "en", code=0).stdout == "Nothing drifted.\n"


def test_locking_over_a_drift_keeps_it(project: Run) -> None:
    """`aop lock` accepts nothing by the way, and says so with its status."""
    project("lock", "docs", code=0)
    before = Path("aop.lock").read_text(encoding="utf-8")
    edit("aop-catalog.yaml", "発注を作る。", "発注を確定する。")
    done = project("lock", "--lang", "en", code=1)
    assert "create_order" in done.stdout
    assert "aop catalog approve" in done.stderr
    assert Path("aop.lock").read_text(encoding="utf-8") == before


def test_a_tool_that_is_gone(project: Run) -> None:
    """The documents that name it are found, although nothing is attached to them any more."""
    project("lock", "docs", code=0)
    text = Path("aop-catalog.yaml").read_text(encoding="utf-8").replace("name: zaiko", "name: zaiko2")
    write("aop-catalog.yaml", text)
    value = json.loads(project("catalog", "diff", "--format", "json", code=1).stdout)
    (drift,) = value["drift"]
    assert (drift["tool"], drift["kind"], drift["now"]) == ("zaiko", "tool-renamed", "zaiko2")
    assert drift["documents"] == [{"path": "docs/stock.md", "phases": [1, 2]}]
    edit("docs/stock.md", "zaiko の stock", "zaiko2 の stock")
    edit("docs/stock.md", "zaiko の orders", "zaiko2 の orders")
    project("catalog", "approve", code=0)
    project("lock", code=0)
    assert set(json.loads(Path("aop.lock").read_text(encoding="utf-8"))["tools"]) == {"slack", "zaiko2"}


def test_documents_with_errors_are_not_locked(project: Run) -> None:
    """What they use cannot be told."""
    write("docs/bad.md", "# x\n\n## フェーズ 1: する (使う道具: 会計ソフト)\n")
    done = project("lock", "docs", "--lang", "en", code=1)
    assert "docs/bad.md: the document has errors" in done.stderr
    assert not Path("aop.lock").exists()


def test_wrong_usage(project: Run) -> None:
    """One sentence each, status 2, nothing written."""
    for line in (["lock"], ["lock", "-"], ["lock", "nowhere"], ["catalog", "approve"], ["catalog", "import"]):
        done = project(*line, code=2)
        assert done.stderr.count("\n") >= 1
    for line in (["catalog", "diff", "--live"], ["catalog", "diff", "--timeout", "soon"], ["catalog", "nothing"]):
        project(*line, code=2)
    assert not Path("aop.lock").exists()
    assert project("catalog", "diff", "--lang", "en", code=0).stdout == "Nothing drifted.\n"


def test_a_faulty_lock_is_refused_with_its_line(project: Run) -> None:
    """A merge conflict, a wrong policy: by every command that needs it."""
    project("lock", "docs", code=0)
    edit("aop.lock", '"effect-writes": "approve"', '"effect-writes": "perhaps"')
    for line in (["check", "docs"], ["compile", "docs"], ["why", "docs/stock.md"], ["lock"], ["catalog", "diff"]):
        assert project(*line, code=2).stderr.startswith("aop: aop.lock:11: "), line
    for line in (["graph", "docs/stock.md"], ["catalog", "show"]):
        project(*line, code=0)
