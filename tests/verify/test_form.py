"""The module must be a declaration and nothing else (I3, O1): whatever else stands in it is refused, harmless or
not."""

from __future__ import annotations

import pytest

from pipeline.artifacts import Fault
from pipeline.stages.verify import verify
from tests.generate.samples import WEEKLY, module_of

SOURCE = module_of(WEEKLY).source
LAST = 'if __name__ == "__main__": PROCEDURE.main()\n'


def faults(source: str) -> tuple[Fault, ...]:
    return verify(source, WEEKLY.parsed, WEEKLY.resolved).faults


def changed(old: str, new: str) -> str:
    """The module with the first `old` replaced; `old` must be there."""
    assert old in SOURCE
    return SOURCE.replace(old, new, 1)


def test_what_link_makes_is_proven() -> None:
    """The module of the template generator has no fault."""
    assert faults(SOURCE) == ()


def test_line_ends_of_another_system_change_nothing() -> None:
    """Python reads CR LF as LF, in strings too."""
    assert faults(SOURCE.replace("\n", "\r\n")) == ()


def test_another_layout_of_the_same_declaration_is_proven() -> None:
    """The proof is about what is declared, not about how it is laid out."""
    assert faults(SOURCE.replace("        ", "  ").replace("    ),", "),")) == ()


def test_an_escape_that_python_does_not_know_is_two_characters(recwarn: pytest.WarningsRecorder) -> None:
    """It is compared as what it evaluates to, and nothing is printed about it."""
    assert faults(changed('title="集める"', r'title="集\める"'))
    assert faults(changed('title="集める"', r'title="集\x3081る"'))
    assert faults(changed("簡潔に", r"簡潔\に")) == ()
    assert not recwarn.list


IMPORT = "from aop_runtime import Handover, Mcp, Phase, Procedure, Standard\n"

WHOLE = {
    "code before the declaration": changed("PROCEDURE = ", "import os\nPROCEDURE = "),
    "code between declaration and last line": changed(LAST, f"print(1)\n{LAST}"),
    "code after the last line": f"{SOURCE}print(1)\n",
    "code on the last line": changed(LAST, LAST.replace("\n", "; print(1)\n")),
    "another last line": changed("PROCEDURE.main()", "PROCEDURE.main(1)"),
    "the last line twice": SOURCE + LAST,
    "no last line": changed(LAST, ""),
    "an else": f"{SOURCE}else: print(1)\n",
    "a comment before the last line": changed(LAST, f"# done\n{LAST}"),
    "a comment on the declaration's last line": changed("\n)\n", "\n)  # done\n"),
    "a semicolon behind the declaration": changed("\n)\n", "\n);\n"),
    "a comment behind": f"{SOURCE}# done\n",
    "no line end at the end": SOURCE[:-1],
    "the last line on two lines": changed('"__main__": ', '"__main__":\n    '),
    "no docstring": SOURCE[SOURCE.index("from ") :],
    "an f-string as docstring": f"f{SOURCE}",
    "a second docstring": f'"""x"""\n{SOURCE}',
    "no import": changed(IMPORT, ""),
    "a star-import": changed(IMPORT, "from aop_runtime import *\n"),
    "another module's import": changed("from aop_runtime", "from os"),
    "a submodule's import": changed("from aop_runtime", "from aop_runtime.declarations"),
    "a relative import": changed("from aop_runtime", "from .aop_runtime"),
    "a plain import": changed(IMPORT, "import aop_runtime\n"),
    "an unknown name imported": changed("import Handover", "import Engine, Handover"),
    "a name imported as another": changed("import Handover, Mcp", "import Handover, Http as Mcp"),
    "two imports": changed(IMPORT, IMPORT * 2),
    "a shadowed PROCEDURE": changed(LAST, f"PROCEDURE = None\n{LAST}"),
    "two targets": changed("PROCEDURE = ", "PROCEDURE = OTHER = "),
    "another name": changed("PROCEDURE = ", "Procedure = "),
    "an annotated assignment": changed("PROCEDURE = ", "PROCEDURE: object = "),
    "an unpacked assignment": changed("PROCEDURE = ", "PROCEDURE, = "),
    "an augmented assignment": changed("PROCEDURE = ", "PROCEDURE += "),
    "a walrus": changed("PROCEDURE = Procedure(", "PROCEDURE = (x := Procedure)("),
    "a decorated function": changed("PROCEDURE = ", "@print\ndef f(): pass\nPROCEDURE = "),
    "a class": changed("PROCEDURE = ", "class Phase: pass\nPROCEDURE = "),
    "a conditional declaration": changed("PROCEDURE = Procedure(", "PROCEDURE = None if x else Procedure("),
    "another constructor": changed("PROCEDURE = Procedure(", "PROCEDURE = Phase("),
    "a constructor of a constructor": changed("PROCEDURE = Procedure(", "PROCEDURE = Procedure.make("),
    "a computed list of phases": changed("    phases=(", "    phases=tuple("),
    "phases as a list": changed("    phases=(", "    phases=[").replace("    ),\n)", "    ],\n)"),
    "a second list of phases": changed("    phases=(", "    phases=(),\n    phases=("),
    "keywords from a dict": changed('    name="週次報告",', '    **{"name": "週次報告"},'),
    "a name without a keyword": changed('    name="週次報告"', '    "週次報告"'),
    "no name": changed('    name="週次報告",\n', ""),
    "an unknown keyword": changed('    name="週次報告",', '    name="週次報告", hook="x",'),
    "another procedure's name": changed('    name="週次報告"', '    name="月次報告"'),
    "a coding declaration": f"# coding: utf-7\n{SOURCE}",
    "a coding declaration on line 2": SOURCE.replace("\n", "\n# -*- coding: latin-1 -*-\n", 1),
    "a coding declaration behind a carriage return": SOURCE.replace("\n", "\r# -*- coding: latin-1 -*-\n", 1),
}


@pytest.mark.parametrize("source", WHOLE.values(), ids=WHOLE.keys())
def test_anything_but_the_declaration_is_refused(source: str) -> None:
    """Every statement that the module may not hold, and every way to say the declaration other than as literals."""
    found = faults(source)
    assert found
    assert {fault.kind for fault in found} == {"form"}
    assert found[0].phase is None


PHASE = {
    "a declaration that is not imported": changed(", Standard\n", "\n"),
    "a computed title": changed('title="集める"', 'title="集" + "める"'),
    "an f-string": changed('title="集める"', 'title=f"集める"'),
    "a formatted f-string": changed('title="集める"', 'title=f"{1}"'),
    "an f-string among literals": changed('"【手順】"', 'f"【手順】"'),
    "a method of a string": changed('title="集める"', 'title="集める".strip()'),
    "bytes": changed('title="集める"', 'title=b"x"'),
    "a name": changed('title="集める"', "title=__file__"),
    "a walrus": changed('title="集める"', 'title=(x := "集める")'),
    "a lambda": changed('title="集める"', "title=lambda: 1"),
    "a computed number": changed("number=1", "number=0 + 1"),
    "a boolean number": changed("number=1", "number=True"),
    "a float number": changed("number=1", "number=1.0"),
    "another number": changed("number=1", "number=4"),
    "no number": changed("number=1,", ""),
    "another title": changed('title="集める"', 'title="集め"'),
    "a title with a blank more": changed('title="集める"', 'title="集める "'),
    "a repeated keyword": changed("number=1,", "number=1, number=1,"),
    "an unknown keyword": changed("number=1,", 'number=1, model="x",'),
    "a positional argument": changed("number=1,", "1,"),
    "starred arguments": changed("number=1,", "*(1,),"),
    "keywords from a dict": changed("number=1,", "**dict(number=1),"),
    "instructions as a tuple": changed('簡潔に報告してください。" "\\n"\n', '簡潔に報告してください。" "\\n",\n'),
    "tools as a list": changed("tools=(", "tools=[*").replace(
        "            ),\n        ),", "            ],\n        ),", 1
    ),
    "tools by comprehension": changed("tools=(", "tools=tuple(x for x in ()) or ("),
    "starred tools": changed('                Standard("hitl"),', '                *(Standard("hitl"),),'),
    "a phase that calls and has an agent": changed("number=1,", 'number=1, calls="請求",'),
}


@pytest.mark.parametrize("source", PHASE.values(), ids=PHASE.keys())
def test_what_is_wrong_with_a_phase_is_said_of_that_phase(source: str) -> None:
    """So that only this phase is generated again, and the others are judged all the same."""
    found = faults(source)
    assert found
    assert {(fault.kind, fault.phase) for fault in found} == {("form", 0)}


def phases() -> list[str]:
    """The three phases' sources."""
    start = SOURCE.index("        Phase(")
    end = SOURCE.index("    ),\n)\n\nif")
    parts = SOURCE[start:end].split("        Phase(")[1:]
    return [f"        Phase({part}" for part in parts]


def with_phases(*parts: str) -> str:
    return SOURCE[: SOURCE.index("        Phase(")] + "".join(parts) + SOURCE[SOURCE.index("    ),\n)\n\nif") :]


def test_reordered_phases_are_refused() -> None:
    """Two phases that changed places are wrong at both."""
    one, two, three = phases()
    found = faults(with_phases(two, one, three))
    assert {fault.phase for fault in found if fault.kind == "form"} == {0, 1}


def test_a_missing_and_a_further_phase_are_refused() -> None:
    """The module has exactly the document's phases."""
    one, two, three = phases()
    assert faults(with_phases(one, two, three)) == ()
    assert "2 phases" in faults(with_phases(one, two))[0].detail
    assert "4 phases" in faults(with_phases(one, two, three, three))[0].detail


def test_a_calling_phase_has_neither_instructions_nor_tools() -> None:
    """It has no agent (I2), and calls what the document says (C1)."""
    call = '            calls="請求",\n'
    for extra in ('instructions="x",', 'tools=(Standard("hitl"),),'):
        assert {fault.phase for fault in faults(changed(call, f"{call}{extra}\n"))} == {2}
    assert faults(changed('calls="請求"', 'calls="支払"'))
    assert faults(changed(call, ""))
    assert faults(changed(call, 'instructions="x",\n'))


def test_a_fault_says_where_and_what() -> None:
    """A line of the module and a sentence, for the generator that must do better and for the message."""
    line = SOURCE[: SOURCE.index('title="集める"')].count("\n") + 1
    detail = faults(changed('title="集める"', "title=str(1)"))[0].detail
    assert detail == f"line {line}: only plain literals may stand here: no f-string, no computed value"
