"""What is written into the store comes back as it was, and anything else is refused rather than misread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.artifacts import Grant, PhaseCode, Pin, Unit, UnitHandover
from pipeline.generators.protocol import GeneratorIdentity
from pipeline.incremental import bundle, code, record
from pipeline.incremental.bundle import Bundle
from pipeline.incremental.carry import unit_digest
from pipeline.places import Span

TEXT = st.text(st.characters(exclude_categories=[]))

READERS = [bundle.from_bytes, bundle.unpack_positions, code.unpack, code.from_signed]


@given(st.builds(Bundle, *[st.binary()] * 3, st.lists(st.binary()).map(tuple)))
def test_a_bundle_comes_back(made: Bundle) -> None:
    """All parts, empty ones too."""
    assert bundle.from_bytes(made.to_bytes()) == made


@given(st.lists(st.builds(Span, *[st.integers(1, 2**32 - 1)] * 4)).map(tuple))
def test_positions_come_back(positions: tuple[Span, ...]) -> None:
    """To the type of each part."""
    again = bundle.unpack_positions(bundle.pack_positions(positions))
    assert again == positions
    assert all(type(span) is Span for span in again)


@given(st.from_type(PhaseCode), st.builds(GeneratorIdentity, TEXT, TEXT, TEXT))
def test_code_comes_back_with_its_maker(made: PhaseCode, identity: GeneratorIdentity) -> None:
    """Texts that stand beside each other stay apart: equal bytes mean equal code."""
    packed = code.pack(made)
    assert code.unpack(packed) == made
    assert code.from_signed(code.signed(identity, packed)) == (identity, packed)


@pytest.mark.parametrize("read", READERS)
@given(st.binary())
@example(b"[9,9,9,9]\nx")
@example(b"[[9]]\nx")
@example(b"{}\nx")
@example(b"[" * 99_999)
def test_other_bytes_are_refused(read: Callable[[bytes], object], data: bytes) -> None:
    """With the errors that are taken for damage; what happens to be well-formed is read."""
    with suppress(ValueError, TypeError):
        assert read(data) is not None


@given(st.binary())
def test_what_is_no_record_is_none(data: bytes) -> None:
    """Then the document counts as one that was never compiled."""
    assert record.from_bytes(data) is None


def test_a_units_digest_covers_all_of_it() -> None:
    """Another value of any field is another unit, and text does not pass from one field into the next."""
    pin = Pin("slack", "post", "write", "", "{}")
    grant = Grant("slack", "mcp", ("notify",), False, ("post",), (("profile", "a"),))
    handover = UnitHandover("handover_1", "(…)", "exa", (), True, "argument", ("find",), "query", "{}", ("<x>",), 0)
    unit = Unit("集める", ("a",), (None,), (0,), ("sql",), (grant,), (handover,), (pin,))
    others = [unit, unit._replace(tools=(grant._replace(options=()),)), unit._replace(pins=(pin._replace(schema=""),))]
    others += [unit._replace(handovers=(handover._replace(fence=1),)), unit._replace(body=("0",))]
    others += [unit._replace(**{field: "" if field == "title" else ()}) for field in Unit._fields]
    assert len({unit_digest(other) for other in others}) == len(others)
    assert unit_digest(unit) == unit_digest(Unit(*unit))
