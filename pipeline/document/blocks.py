"""The document's blocks, exactly as CommonMark 0.31 has them (F1), each with its place in the source.

markdown-it-py drives the reading, with the rules of `pipeline.document.rules`; inline structure is not parsed here.
"""

from __future__ import annotations

from pipeline.document.block import Block, BlockKind, TextLine
from pipeline.document.rules import block_parser
from pipeline.document.rules.definition import normalize_label
from pipeline.document.rules.state import MAX_NESTING, Reading
from pipeline.document.source import Source
from pipeline.garbage import uncollected

__all__ = ["MAX_NESTING", "Block", "BlockKind", "TextLine", "normalize_label", "read_blocks"]

_PARSER = block_parser()


def read_blocks(source: Source) -> list[Block]:
    """All blocks of the document, in time and memory linear in its size. Never raises for what the text holds.

    Quotes and items nest up to `MAX_NESTING` (10,000) levels; the marks of deeper ones are text.
    The link reference definitions are the blocks of kind `definition`; of several with one label the first counts.
    """
    reading = Reading(source, _PARSER)
    with uncollected():  # blocks make no cycles
        _PARSER.block.tokenize(reading, 0, reading.lineMax)
        reading.close(0)
    return reading.blocks
