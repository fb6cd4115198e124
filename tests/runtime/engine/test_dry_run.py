"""A dry run shows what a run gives: for the same grants, the same tools, schemas and descriptions."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from aop_runtime.declarations import Handover, Mcp, Phase, Procedure, Standard
from aop_runtime.engine.dry_run import views
from aop_runtime.handover.source import HandoverSource
from aop_runtime.loading import load_procedure
from aop_runtime.manifest import Contract, Manifest, OperationPin, read_manifest
from aop_runtime.plane.permission import Rules
from aop_runtime.plane.registry import Registry, offers
from aop_runtime.plane.spec import Tool
from aop_runtime.sources.connectors import Connectors
from aop_runtime.sources.protocol import SourceFault
from aop_runtime.standard.attachments import AttachmentsSource
from aop_runtime.standard.browser import TOOL as BROWSER
from aop_runtime.standard.hitl import HitlSource
from aop_runtime.standard.sandbox import NAME as SANDBOX
from cli.main import main

EXAMPLES = Path(__file__).parents[3] / "examples"
SEND = OperationPin(
    tool="mail",
    operation="send",
    effect="write",
    description="Send a mail.",
    input_schema={
        "type": "object",
        "properties": {"text": {"type": "string"}, "key": {"type": "string"}},
        "required": ["text", "key"],
    },
    contract=Contract(idempotency_argument="key", confirm="always"),
)


async def offered(phase: Phase, manifest: Manifest) -> list[Tool]:
    """What a run offers in `phase`, but for the plane's own tools."""
    connectors = Connectors(manifest, {}, {})
    sources = (connectors, HandoverSource(connectors.operation_tools), HitlSource(), AttachmentsSource())
    registry = Registry(sources, model="m")
    try:
        return [tool for tool in await registry.tools(phase) if tool.spec.tool != "aop"]
    finally:
        await registry.aclose()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("built")
    assert main(["compile", *map(str, sorted(EXAMPLES.glob("*.md"))), "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.md")))
def test_what_is_shown_of_an_example_is_what_a_run_offers(built: Path, name: str) -> None:
    """Tools, schemas and descriptions of every phase whose tools can be had here without a browser and a sandbox."""
    procedure, manifest = load_procedure(built / name / "procedure.py"), read_manifest(built / name / "manifest.json")
    for phase, view in zip(procedure.phases, views(procedure, manifest, Rules()), strict=True):
        if any(isinstance(grant, Standard) and grant.tool in (BROWSER, SANDBOX) for grant in phase.tools):
            continue
        tools = asyncio.run(offered(phase, manifest))
        plain = [tool for tool in tools if not tool.inner]
        shown = {
            (tool["tool"], tool["operation"]): (tool["input_schema"], tool["description"]) for tool in view["tools"]
        }
        assert shown == {
            (tool.spec.tool, tool.spec.operation): (offer.input_schema, offer.description)
            for tool, offer in zip(plain, offers(plain, truncated=False), strict=True)
        }
        handed = [tool for tool in tools if tool.inner]
        assert [(handover["tool"], handover["name"], handover["input_schema"]) for handover in view["handovers"]] == [
            (tool.spec.tool, tool.spec.operation, tool.spec.input_schema) for tool in handed
        ]
        assert [[inner["operation"] for inner in handover["operations"]] for handover in view["handovers"]] == [
            [inner.spec.operation for inner in tool.inner] for tool in handed
        ]


def test_an_argument_that_the_plane_fills_in_is_not_shown() -> None:
    """A model never sees it; and what the catalog wants confirmed is shown as asked for."""
    procedure = Procedure(
        name="p",
        phases=(
            Phase(
                number=1,
                title="t",
                instructions="i",
                tools=(Mcp("mail", read_only=False, operations=("send",)),),
                handovers=(
                    Handover(
                        name="hand",
                        tool="mail",
                        read_only=False,
                        mode="argument",
                        operations=("send",),
                        argument="text",
                        text="x",
                    ),
                ),
            ),
        ),
    )
    (view,) = views(procedure, Manifest({("mail", "send"): SEND}, {}), Rules())
    for tool in (*view["tools"], *view["handovers"][0]["operations"]):
        assert tool["input_schema"] == {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
            "additionalProperties": False,
        }
        assert tool["gate"] == "ask"


def test_what_a_run_would_refuse_is_refused() -> None:
    """An operation that writes, where only reading was granted."""
    grant = Mcp("mail", read_only=True, operations=("send",))
    procedure = Procedure(name="p", phases=(Phase(number=1, title="t", instructions="i", tools=(grant,)),))
    with pytest.raises(SourceFault, match=r"mail\.send"):
        views(procedure, Manifest({("mail", "send"): SEND}, {}), Rules())
