"""What an MCP server answered, as an output of the plane."""

from __future__ import annotations

from typing import cast

from mcp_types import (
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    TextResourceContents,
)

from aop_runtime.declarations import Json
from aop_runtime.plane.envelope import Output
from aop_runtime.sources.redaction import Secrets
from aop_runtime.sources.words import one_line


def output_of(result: CallToolResult, secrets: Secrets) -> Output:
    """Texts as they are, without secrets; what is no text is named and left out, with a warning."""
    texts: list[str] = []
    warnings: list[str] = []
    for block in result.content:
        if isinstance(block, TextContent):
            texts.append(block.text)
        elif isinstance(block, ImageContent | AudioContent):
            size = len(block.data) * 3 // 4
            texts.append(f"[{block.type}, {one_line(block.mime_type, 80)}, {size} bytes]")
            warnings.append(f"one {block.type} was left out: only text is handed on")
        elif isinstance(block, ResourceLink):
            texts.append(f"[{one_line(block.name, 200)}]({one_line(block.uri, 2_000)})")
        elif isinstance(block, EmbeddedResource) and isinstance(block.resource, TextResourceContents):
            texts.append(block.resource.text)
        else:
            texts.append("[resource]")
            warnings.append("one resource was left out: only text is handed on")
    structured = secrets.hide_json(cast(Json, result.structured_content))
    return Output(content=secrets.hide("\n".join(texts)), structured=structured, warnings=tuple(warnings))
