"""The blocks of a text."""

from pipeline.document.blocks import Block, read_blocks
from pipeline.document.source import Source, read_source


def source_of(text: str) -> Source:
    source = read_source(text.encode())
    assert isinstance(source, Source)
    return source


def blocks_of(text: str) -> list[Block]:
    return read_blocks(source_of(text))
