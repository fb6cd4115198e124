"""Canonical JSON of artifacts (R1, R4): equal values have equal bytes, and nothing but such bytes is read back."""

from __future__ import annotations

import json
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline import canonical
from pipeline.artifacts import (
    CallDeclaration,
    Fault,
    Fence,
    Grant,
    Handover,
    HandoverDeclaration,
    Item,
    ParsedDocument,
    Pin,
    ToolDeclaration,
    UnitHandover,
    Verdict,
)
from pipeline.canonical import UnreadableArtifact, digest, dumps, loads
from pipeline.diagnostics.findings import Finding
from pipeline.places import At
from pipeline.stages.generate import units_of
from pipeline.stages.versions import SCHEMA_VERSION
from tests.generate.samples import WEEKLY, module_of


class Sheet(NamedTuple):
    text: str
    rows: tuple[tuple[int, int, int], ...]


class Pieces(NamedTuple):
    pieces: tuple[str | int, ...]


class AnyPieces(NamedTuple):
    pieces: tuple[str | int | None, ...]


KINDS = (
    Fence,
    Item,
    ToolDeclaration,
    CallDeclaration,
    HandoverDeclaration,
    Pin,
    Grant,
    Handover,
    UnitHandover,
)
WHOLE = (Sheet, Verdict, Finding)


@pytest.mark.parametrize("kind", KINDS + WHOLE)
def test_every_kind_of_value_survives(kind: type[object]) -> None:
    """Whatever values its fields may have: what was written is what is read, to the type of each part."""

    @given(st.from_type(kind))
    def survives(value: object) -> None:
        data = dumps(value)
        again = loads(data, kind)
        assert again == value
        assert repr(again) == repr(value)
        assert dumps(again) == data

    survives()


def test_whole_documents_survive() -> None:
    """The artifacts that stages hand on, with what the kinds above are put together to."""
    unit = units_of(WEEKLY.parsed, WEEKLY.resolved)[1]
    for value in (WEEKLY.parsed, WEEKLY.resolved, unit):
        assert loads(dumps(value), type(value)) == value


def test_the_bytes_are_compact_and_name_their_kind_and_version() -> None:
    """Field names are not in them, text is as it is, and nothing depends on the order of anything."""
    assert dumps(Sheet("あ\n", ((1, 2, 3),))) == f'["Sheet",{SCHEMA_VERSION},["あ\\n",[[1,2,3]]]]'.encode()
    assert (
        dumps(Verdict((Fault("fence", None, "x", 2),)))
        == f'["Verdict",{SCHEMA_VERSION},[[["fence",null,"x",2]]]]'.encode()
    )


def test_equal_values_have_equal_digests_and_others_have_not() -> None:
    """Made twice, a value has one digest; with one character changed it has another."""
    assert digest(WEEKLY.parsed) == digest(loads(dumps(WEEKLY.parsed), ParsedDocument))
    assert digest(WEEKLY.parsed) != digest(WEEKLY.parsed._replace(name="月次報告"))
    assert digest(Finding("x", At(0), 1, (("a", 1),))) != digest(Finding("x", At(0), 1, (("a", "1"),)))


BROKEN = {
    "nothing": b"",
    "no JSON": b"[",
    "not UTF-8": b'["Sheet",1,["\xff",[]]]',
    "no envelope": b'{"source":""}',
    "another kind": dumps(Verdict()),
    "another version": f'["Sheet",{SCHEMA_VERSION + 1},["",[]]]'.encode(),
    "a field less": f'["Sheet",{SCHEMA_VERSION},[""]]'.encode(),
    "a field more": f'["Sheet",{SCHEMA_VERSION},["",[],1]]'.encode(),
    "a number for a string": f'["Sheet",{SCHEMA_VERSION},[1,[]]]'.encode(),
    "a string for a number": f'["Sheet",{SCHEMA_VERSION},["",[["1",2,3]]]]'.encode(),
    "a boolean for a number": f'["Sheet",{SCHEMA_VERSION},["",[[true,2,3]]]]'.encode(),
    "a float for a number": f'["Sheet",{SCHEMA_VERSION},["",[[1.0,2,3]]]]'.encode(),
    "an object for an array": f'["Sheet",{SCHEMA_VERSION},["",{{}}]]'.encode(),
    "a tuple too short": f'["Sheet",{SCHEMA_VERSION},["",[[1,2]]]]'.encode(),
    "too deep": b"[" * 100_000,
    "a huge number": f'["Sheet",{SCHEMA_VERSION},["",[[{"9" * 5000},2,3]]]]'.encode(),
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN.keys())
def test_damaged_and_foreign_bytes_are_a_typed_error(data: bytes) -> None:
    """Nothing is guessed, coerced or left out."""
    with pytest.raises(UnreadableArtifact, match="run the stage again"):
        loads(data, Sheet)


@given(st.binary(), st.integers(0, 10_000))
def test_any_damage_is_found_or_harmless(piece: bytes, place: int) -> None:
    """Bytes put over a real artifact: a typed error, or a value whose own bytes are canonical."""
    data = dumps(WEEKLY.parsed)
    damaged = data[:place] + piece + data[place + len(piece) :]
    try:
        value = loads(damaged, ParsedDocument)
    except UnreadableArtifact:
        return
    assert loads(dumps(value), ParsedDocument) == value


def test_a_literal_and_a_union_hold_only_what_they_name() -> None:
    """A kind that no artifact has, and a segment that is neither text nor a fence's number, are refused."""
    with pytest.raises(UnreadableArtifact):
        loads(dumps(WEEKLY.parsed).replace(b'"multi"', b'"many"'), ParsedDocument)
    with pytest.raises(UnreadableArtifact):
        loads(dumps(AnyPieces((1, "a", None))).replace(b"AnyPieces", b"Pieces"), Pieces)


class Unclear(NamedTuple):
    part: Item | CallDeclaration


def test_a_class_that_has_no_canonical_form_is_a_mistake_of_ours() -> None:
    """What is no named tuple is not written; a part whose annotation does not say what it is, is not read."""
    with pytest.raises(TypeError):
        dumps(("a", 1))
    with pytest.raises(TypeError):
        dumps(module_of(WEEKLY))  # type: ignore[arg-type]  # a dataclass
    with pytest.raises(TypeError):
        loads(dumps(Unclear(CallDeclaration("", "", 0))), Unclear)


def test_lone_surrogates_survive() -> None:
    """A file's name may hold one, and a finding's argument may be a file's name."""
    item = Item("\ud800", "", (), False, 0)
    value = ToolDeclaration("\udcff", (item,), 1)
    assert loads(dumps(value), ToolDeclaration) == value


def test_the_envelope_is_plain_json() -> None:
    """Any tool can read it."""
    assert json.loads(canonical.dumps(WEEKLY.resolved))[0] == "ResolvedDocument"
