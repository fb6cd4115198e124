"""The page about running: its tables and its script are those of the code, in both languages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from aop_runtime.engine.run import FAULT_CODES
from aop_runtime.engine.script import read_script
from aop_runtime.runs.envelopes import EnvelopeRecord
from aop_runtime.runs.events import Event
from aop_runtime.runs.folder import Changes, Limits

DOCS = Path(__file__).parents[3] / "docs"
PAGES = ["running.md", "running.ja.md"]
COMMON = {"event", "sequence", "at", "active_s"}


def page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PAGES)
def test_every_event_and_field_is_listed(name: str) -> None:
    """With what is inside of them, and the codes of failures."""
    table = page(name).split("| `event` |")[1]
    listed = dict(re.findall(r"^\| `([a-z-]+)` \|(.*)\|$", table, re.MULTILINE))
    kinds = get_args(get_args(Event)[0])
    assert set(listed) == {kind.model_fields["event"].default for kind in kinds}
    inside = {"changes": Changes.model_fields, "envelope": EnvelopeRecord.model_fields, "code": FAULT_CODES}
    for kind in kinds:
        fields = set(kind.model_fields) - COMMON
        wanted = fields | {part for field in fields for part in inside.get(field, ())}
        assert set(re.findall(r"`([a-z_0-9]+)`", listed[kind.model_fields["event"].default])) == wanted


@pytest.mark.parametrize("name", PAGES)
def test_every_limit_is_listed_with_its_default(name: str) -> None:
    """As a person writes the number."""
    for limit, field in Limits.model_fields.items():
        assert re.search(rf"^\| `{limit}` \| .* \| {field.default:,.0f} \|$", page(name), re.MULTILINE), limit


@pytest.mark.parametrize("name", PAGES)
def test_the_script_is_one(name: str, tmp_path: Path) -> None:
    """As it stands there."""
    found = re.search(r"~~~~yaml script\n(.*?)~~~~", page(name), re.DOTALL)
    assert found is not None
    path = tmp_path / "s.yaml"
    path.write_text(found[1], encoding="utf-8")
    script = read_script(path)
    assert (len(script.phases["1"]), len(script.called)) == (3, 1)
