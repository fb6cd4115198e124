"""Sizes: what is wanted is kept, more documents never take less, and every bound is one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from bench.sizing import bounds, costs, loads
from bench.sizing.costs import Requests
from bench.sizing.extrapolation import Size, monthly, price, size
from bench.sizing.loads import Loads

FOUND = costs.load()
WANTED = loads.load()


@cache
def sizes() -> list[Size]:
    return [size(FOUND, WANTED, documents) for documents in WANTED.documents]


def other(part: str, **fields: float) -> Loads:
    return WANTED.model_copy(update={part: getattr(WANTED, part).model_copy(update=fields)})


def test_what_is_wanted_is_kept() -> None:
    """The p95, that of a push as well, and a recompile of everything in its time."""
    for found in sizes():
        assert max(found.saves.quantile(0.95), found.push.quantile(0.95)) <= WANTED.use.p95_s
        assert found.documents / found.bulk.rate() <= WANTED.use.recompile_hours * 3_600
        assert found.saves.quantile(0.5) >= WANTED.settings.quiet_s


def test_no_installation_is_beyond_a_bound() -> None:
    """And all together hold all documents, with none that is not needed."""
    limits = bounds.limits(FOUND, WANTED)
    for found, documents in zip(sizes(), WANTED.documents, strict=True):
        assert found.bound == limits[0] == min(limits)
        assert found.documents <= limits[0].documents + 1
        assert (found.installations - 1) * limits[0].documents < documents <= found.installations * found.documents


def test_hours_and_memory_are_within_what_is_allowed() -> None:
    """Each figure of the table by itself."""
    allowed = WANTED.limits
    for found in sizes():
        assert found.reindex_hours <= allowed.reindex_hours * 1.001
        assert found.gc_hours <= allowed.gc_hours * 1.001
        assert found.redis_gb <= allowed.redis_gib * 1.001
        assert found.redis_busy <= allowed.redis_utilisation


@pytest.mark.parametrize(
    ("bound", "part", "field"),
    [
        ("reindex", "limits", "reindex_hours"),
        ("gc", "limits", "gc_hours"),
        ("redis-pause", "limits", "redis_pause_s"),
        ("redis-memory", "limits", "redis_gib"),
        ("redis-processor", "limits", "redis_utilisation"),
        ("dispatcher-memory", "limits", "dispatcher_mb"),
    ],
)
def test_every_bound_moves_with_its_limit(bound: str, part: str, field: str) -> None:
    """Half of what is allowed: about half of the documents, and no other bound changes."""
    half = other(part, **{field: getattr(getattr(WANTED, part), field) / 2})
    before = {found.bound: found.documents for found in bounds.limits(FOUND, WANTED)}
    after = {found.bound: found.documents for found in bounds.limits(FOUND, half)}
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {bound}
    assert after[bound] <= before[bound] * 0.55  # type: ignore[index]  # one of its words


@given(st.integers(1, 10_000_000), st.integers(1, 10_000_000))
def test_requests_and_their_price_are_in_proportion(first: int, second: int) -> None:
    """To the documents; and never negative."""
    one, two = (monthly(FOUND, WANTED, documents) for documents in (first, second))
    assert one.requests.put / first == pytest.approx(two.requests.put / second)
    assert one.lists / first == pytest.approx(two.lists / second)
    assert one.cost / first == pytest.approx(two.cost / second)
    assert 0 < one.upkeep < one.cost


def test_the_price_is_counted_by_hand() -> None:
    """A thousand writes, two lists of a thousand keys, four thousand reads; deletions are free."""
    requests = Requests(get=3_000, put=1_000, head=1_000, delete=9_000, listed=2_000)
    wanted = other("s3", put_price=5, get_price=0.5)
    assert price(wanted, requests) == pytest.approx(5 + 2 * 5 / 1_000 + 2)


@given(st.floats(1, 100), st.floats(1, 100))
def test_slower_buckets_bear_fewer_documents(get_ms: float, put_ms: float) -> None:
    """Or as many, where something else bounds them."""
    here = bounds.limits(FOUND, other("s3", get_ms=get_ms, put_ms=put_ms))[0]
    slower = bounds.limits(FOUND, other("s3", get_ms=2 * get_ms, put_ms=2 * put_ms))[0]
    assert slower.documents <= here.documents


def test_jobs_that_are_kept_shorter_take_less_of_redis() -> None:
    """AOP_KEEP_JOBS_S is the screw for it."""
    hour = other("settings", keep_jobs_s=3_600)
    assert bounds.redis_bytes(FOUND, hour) < bounds.redis_bytes(FOUND, WANTED) / 3


def test_what_cannot_be_kept_is_said() -> None:
    """No number of workers makes the quiet time shorter."""
    with pytest.raises(ValueError, match="not published within"):
        size(FOUND, other("use", p95_s=0.5), 1_000)


@pytest.mark.parametrize("line", ["saves_a_day = 0", "saves_a_day = -1", "saves_a_day = nan", "unknown = 1"])
def test_loads_that_make_no_sense_are_refused(tmp_path: Path, line: str) -> None:
    """With the field's name, before anything is computed."""
    text = loads.LOADS.read_text(encoding="utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(text.replace("saves_a_day = 0.05", line), encoding="utf-8")
    with pytest.raises(ValidationError, match=line.split(" ", maxsplit=1)[0]):
        loads.load(file)


def test_costs_of_all_stages_are_needed(tmp_path: Path) -> None:
    """A file of another version says what it lacks."""
    file = tmp_path / "costs.json"
    stages = {stage: cost for stage, cost in FOUND.file.stages.items() if stage != "verify"}
    costs.save(FOUND.model_copy(update={"file": FOUND.file.model_copy(update={"stages": stages})}), file)
    with pytest.raises(ValueError, match="verify"):
        costs.load(file)


def test_costs_are_saved_as_they_are_read(tmp_path: Path) -> None:
    """Rounded once, so that nothing changes a second time."""
    file = tmp_path / "costs.json"
    costs.save(FOUND, file)
    assert costs.load(file) == FOUND
