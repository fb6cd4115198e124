"""`hitl`: asks a person."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aop_runtime.declarations import Standard
from aop_runtime.plane.dispatch import Plane
from aop_runtime.plane.memory_journal import MemoryJournal
from aop_runtime.plane.questions import Answer, Waiting
from aop_runtime.plane.spec import ToolCall
from aop_runtime.standard.hitl import HitlSource
from tests.runtime.plane.given import Somebody, plane

_GRANT = Standard("hitl")


async def _plane(person: Somebody, journal: MemoryJournal, folder: Path) -> Plane:
    return plane(await HitlSource().tools(_GRANT), person=person, journal=journal, folder=folder)


def _ask(choices: list[str] | None = None) -> ToolCall:
    arguments: dict[str, object] = {"question": "何円まで払いますか。"}
    if choices is not None:
        arguments["choices"] = choices
    return ToolCall("c1", "ask_person", arguments)


def test_its_tool_asks_and_hands_on_what_was_said(tmp_path: Path) -> None:
    """The answer is the content; who gave it stands beside it."""
    person = Somebody(Answer(verdict="text", text="10 万円", by="花子"))

    async def run() -> None:
        envelope = await (await _plane(person, MemoryJournal(), tmp_path)).call(_ask())
        assert envelope.ok
        assert envelope.content == "10 万円"
        assert envelope.structured == {"answer": "10 万円", "by": "花子"}

    asyncio.run(run())
    (question,) = person.questions
    assert (question.kind, question.text, question.choices) == ("question", "何円まで払いますか。", ())
    assert question.address == "hitl.ask_person"


def test_without_an_answer_the_run_waits_and_asks_the_same_question_when_it_is_resumed(tmp_path: Path) -> None:
    """Its id does not change, so the answer that came meanwhile is found."""
    journal, person = MemoryJournal(), Somebody(None, Answer(verdict="text", text="はい"))

    async def run() -> None:
        with pytest.raises(Waiting):
            await (await _plane(person, journal, tmp_path)).call(_ask())
        assert (await (await _plane(person, journal, tmp_path)).call(_ask())).content == "はい"

    asyncio.run(run())
    first, second = person.questions
    assert first.id == second.id


@pytest.mark.parametrize(("said", "fits"), [("承認", True), ("来週にする", False)])
def test_an_answer_beside_the_choices_is_handed_on_with_a_warning(tmp_path: Path, said: str, fits: bool) -> None:
    """A person may say something else; the model is told that it is none of them."""
    person = Somebody(Answer(verdict="text", text=said))

    async def run() -> None:
        envelope = await (await _plane(person, MemoryJournal(), tmp_path)).call(_ask(["承認", "差し戻し"]))
        assert envelope.content == said
        assert envelope.structured == {"answer": said, "by": "", "one_of_the_choices": fits}
        assert bool(envelope.warnings) is not fits

    asyncio.run(run())
    assert person.questions[0].choices == ("承認", "差し戻し")


def test_a_yes_or_no_is_an_answer_too(tmp_path: Path) -> None:
    """Whoever can be asked may have buttons only."""

    async def run() -> None:
        person = Somebody(Answer(verdict="no", text="高い"))
        assert (await (await _plane(person, MemoryJournal(), tmp_path)).call(_ask())).content == "no 高い"

    asyncio.run(run())


@pytest.mark.parametrize(
    "arguments",
    [{}, {"question": ""}, {"question": " \n"}, {"question": "?", "choices": ["one"]}, {"question": "?", "to": "boss"},
     {"question": "?", "choices": ["a", "a"]}, {"question": "x" * 4_001}],
)  # fmt: skip
def test_no_one_is_asked_what_cannot_be_answered(tmp_path: Path, arguments: dict[str, object]) -> None:
    """Blank questions, one choice, unknown arguments: the model gets an error, and nobody a question."""
    person = Somebody()

    async def run() -> None:
        envelope = await (await _plane(person, MemoryJournal(), tmp_path)).call(ToolCall("c1", "ask_person", arguments))
        assert envelope.error is not None
        assert envelope.error.code == "invalid_input"

    asyncio.run(run())
    assert person.questions == []
