"""The pages on hand-overs and standard tools: their numbers are the real ones, and their script runs."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from aop_runtime.confinement.scratch import DEEPEST
from aop_runtime.declarations import Json, Standard
from aop_runtime.handover.box import run_script
from aop_runtime.handover.limits import BoxLimits
from aop_runtime.handover.substitution import LONGEST_VALUE, substitute
from aop_runtime.plane.envelope import Envelope
from aop_runtime.standard import attachment_files, attachments
from aop_runtime.standard.attachments import AttachmentsSource
from aop_runtime.standard.hitl import HitlSource
from aop_runtime.standard.sandbox_wall import SandboxLimits

from .snippets import ROOT, fences

HANDOVERS = [ROOT / "docs" / "handovers.ja.md", ROOT / "docs" / "handovers.md"]
STANDARD = [ROOT / "docs" / "standard-tools.ja.md", ROOT / "docs" / "standard-tools.md"]


def _numbers(text: str) -> set[str]:
    """With their units."""
    return set(re.findall(r"[0-9][0-9,]*(?: (?:s|KiB|MiB))?", text))


@pytest.mark.parametrize("page", HANDOVERS, ids=lambda page: page.name)
def test_the_limits_of_the_box_are_those_of_the_code(page: Path) -> None:
    """Each number of the table, and the length of a value."""
    limits = BoxLimits()
    shown = _numbers(page.read_text(encoding="utf-8"))
    assert {
        f"{limits.wall_s:g} s",
        f"{limits.cpu_s} s",
        f"{limits.memory_bytes >> 20} MiB",
        f"{limits.heap_mib} MiB",
        f"{limits.output_bytes >> 10} KiB",
        f"{limits.calls:,}",
        f"{limits.message_bytes >> 20} MiB",
        f"{LONGEST_VALUE:,}",
    } <= shown
    assert limits.result_characters == 4_000_000
    assert limits.processors == 2


@pytest.mark.parametrize("page", STANDARD, ids=lambda page: page.name)
def test_the_limits_of_the_standard_tools_are_those_of_the_code(page: Path) -> None:
    """Of `sandbox` and of `添付ファイル`."""
    limits = SandboxLimits()
    shown = _numbers(page.read_text(encoding="utf-8"))
    assert {
        f"{limits.wall_s:g} s",
        f"{limits.memory_bytes >> 20} MiB",
        f"{limits.processes}",
        f"{limits.output_bytes >> 10} KiB",
        f"{limits.file_bytes >> 20} MiB",
        f"{limits.scratch_bytes >> 20} MiB",
        f"{limits.scratch_entries:,}",
        f"{limits.temporary_bytes >> 20} MiB",
        f"{DEEPEST}",
        f"{attachments.MOST_BYTES >> 20} MiB",
        f"{attachments.MOST_CHARACTERS:,}",
        f"{attachment_files.MOST_FILES:,}",
        f"{attachment_files.DEEPEST}",
    } <= shown


@pytest.mark.parametrize("page", STANDARD, ids=lambda page: page.name)
def test_the_tools_have_the_names_of_the_page(page: Path) -> None:
    """And their arguments."""
    text = page.read_text(encoding="utf-8")
    sources = {"hitl": HitlSource(), "添付ファイル": AttachmentsSource()}
    for name, source in sources.items():
        for tool in asyncio.run(source.tools(Standard(name))):
            assert f"`{tool.spec.name}`" in text
            properties = tool.spec.input_schema["properties"]
            assert isinstance(properties, dict)
            for argument in properties:
                assert f"`{argument}`" in text


@pytest.mark.parametrize("page", HANDOVERS, ids=lambda page: page.name)
def test_the_script_of_the_page_runs(page: Path) -> None:
    """As it stands there."""

    async def answer(tool: str, operation: str, arguments: Mapping[str, Json]) -> Envelope:
        return Envelope(content="", structured={"called": [tool, operation, dict(arguments)]})

    (script,) = [text for _, info, text in fences(page) if info == ["ts"]]
    scripted = asyncio.run(run_script(substitute(script, {"<検索語>": "ねこ"}), answer, BoxLimits()))
    assert json.loads(scripted.ended.stdout) == {"called": ["exa", "web_search_exa", {"query": "ねこ"}]}
