"""The document's blocks, exactly as CommonMark 0.31 has them (F1), each with its place in the source.

markdown-it-py drives the reading, with the rules of `pipeline.document.rules`; inline structure is not parsed here.
"""

from __future__ import annotations

from pipeline.document.block import Block, BlockKind, TextLine
from pipeline.document.rules import block_parser
from pipeline.document.rules.definition import normalize_label
from pipeline.document.rules.state import Reading
from pipeline.document.source import Source

__all__ = ["Block", "BlockKind", "TextLine", "normalize_label", "read_blocks"]

_PARSER = block_parser()


def read_blocks(source: Source) -> list[Block]:
    """All blocks of the document, in time linear in its size. Nesting has no limit; nothing is raised for what the text holds.

    The link reference definitions are the blocks of kind `definition`: the first one with a label counts.
    """
    reading = Reading(source, _PARSER)
    _PARSER.block.tokenize(reading, 0, reading.lineMax)
    reading.close(0)
    return reading.blocks
