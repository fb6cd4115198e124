"""Reading a compiled module: what Python would make of it, without running a word of it; anything else is refused."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from aop_runtime.declarations import Procedure
from aop_runtime.loading import MAX_BYTES, ModuleFault, load_procedure, read_procedure
from cli.main import main

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(map(str, (ROOT / "examples").glob("*.md")))

GOOD = '''"""日次 — compiled by aop. Do not edit."""

from aop_runtime import Handover, Mcp, Phase, Procedure, Standard

PROCEDURE = Procedure(
    name="日次",
    phases=(
        Phase(
            number=1,
            title="数える",
            instructions=(
                "数える。\\n"
                "\\t終わり\\n"
            ),
            tools=(
                Standard("browser", operations=("read",), options={"プロフィール": "経理"}),
                Mcp("slack", read_only=True, operations=None),
            ),
            handovers=(
                Handover(
                    name="handover_1", tool="bigquery", read_only=True, mode="argument", operations=("q",),
                    argument="query", fixed_arguments={"a": [1, -2.5, None, True, {"b": ""}]}, text="select 1",
                ),
            ),
        ),
    ),
)

if __name__ == "__main__": PROCEDURE.main()
'''


def test_what_is_read_is_what_python_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For every example procedure."""
    monkeypatch.chdir(tmp_path)
    assert main(["compile", *EXAMPLES, "--out", "built"]) == 0
    modules = list((tmp_path / "built").rglob("procedure.py"))
    assert len(modules) == len(EXAMPLES)
    for module in modules:
        assert load_procedure(module) == runpy.run_path(str(module))["PROCEDURE"]


def test_every_kind_of_literal_is_read() -> None:
    """Strings in pieces, numbers below nothing, nested values, None."""
    found = read_procedure(GOOD.encode(), "p.py")
    assert isinstance(found, Procedure)
    phase = found.phases[0]
    assert phase.instructions == "数える。\n\t終わり\n"
    assert phase.handovers[0].fixed_arguments == {"a": [1, -2.5, None, True, {"b": ""}]}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"日次",', '"日" + "次",', "p.py:6"),
        ('"日次",', 'f"日次",', "p.py:6"),
        ('"日次",', '__import__("os").environ["HOME"],', "p.py:6"),
        ('"日次",', 'open("/etc/passwd").read(),', "p.py:6"),
        ('"日次",', "b'x',", "p.py:6"),
        ('"日次",', "(lambda: 1)(),", "p.py:6"),
        ("number=1", "number=1j", "p.py:9"),
        ("number=1", "number=True", "p.py:8"),
        ("number=1", "**{}", "p.py:9"),
        ("number=1", "nombre=1", "p.py:8"),
        ("read_only=True, operations=None", "operations=None", "p.py:17"),
        ('operations=("read",)', 'operations=["read"]', "p.py:16"),
        ('"b": ""', '"b": "", "b": 1', "p.py:22"),
        ('"b": ""', "1: 2", "p.py:22"),
        ('"b": ""', "**{}", "p.py:22"),
        ('"b": ""', '"b": Standard("hitl")', "p.py:22"),
        ('"b": ""', '"b": (1,)', "p.py:22"),
        ("Procedure, Standard", "Procedure", "p.py:16"),
        ("Procedure, Standard", "Procedure, Standard as Mcp", "p.py:3"),
        ("Procedure, Standard", "Procedure, Standard, DeclarationError", "p.py:3"),
        ("from aop_runtime import", "from .aop_runtime import", "p.py:1"),
        ("from aop_runtime import", "import os; from aop_runtime import", "p.py:1"),
        ("PROCEDURE = Proc", "OTHER = Proc", "p.py:1"),
        ("PROCEDURE = Proc", "PROCEDURE: int = Proc", "p.py:1"),
        ("PROCEDURE = Procedure(", "PROCEDURE = Phase(", "p.py"),
        ('"""日次 — compiled by aop. Do not edit."""', "", "p.py"),
        ("PROCEDURE.main()\n", "PROCEDURE.main(); import os\n", "p.py"),
        ("PROCEDURE.main()\n", "PROCEDURE.main()\nimport os\n", "p.py"),
        ('if __name__ == "__main__": PROCEDURE.main()\n', "", "p.py"),
        ('"__main__"', '"main"', "p.py"),
        ("tools=(", "tools=((", "p.py"),
    ],
)
def test_anything_else_is_refused_with_its_place(before: str, after: str, said: str) -> None:
    """And nothing of it is run."""
    assert before in GOOD
    with pytest.raises(ModuleFault, match="compile the document again") as fault:
        read_procedure(GOOD.replace(before, after, 1).encode(), "p.py")
    assert said in str(fault.value)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff\xfe", b"\0", b"x = " + b"(" * 5_000 + b")" * 5_000, b"-" * 20_000 + b"1", b" " * (MAX_BYTES + 1)],
)
def test_what_is_no_module_is_refused(data: bytes) -> None:
    """Empty, binary, nested without end, too large."""
    with pytest.raises(ModuleFault):
        read_procedure(data, "p.py")


def test_a_module_that_is_not_there_is_named(tmp_path: Path) -> None:
    """With what to do."""
    with pytest.raises(ModuleFault, match="aop compile"):
        load_procedure(tmp_path / "procedure.py")
