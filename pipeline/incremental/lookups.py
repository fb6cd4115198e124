"""What the items of declarations come to in the catalog: looked up once for all documents of a compile, and recorded as
read for each of them. The documents of a library declare the same few tools again and again."""

from __future__ import annotations

from catalog.view import CatalogView
from pipeline.artifacts import Item
from pipeline.incremental.reads import Inquiry, RecordingCatalog
from pipeline.resolution.items import ItemReading, read_item
from pipeline.resolution.sparing import Allowance, SparingCatalog

MOST = 4096
LONGEST = 200
"""How many are kept, and how long, in code points: more is seldom written twice. Groups count as well, for blanks in
them stay, which an item's text has not."""


class ItemLookups:
    """`read_item` for one run of resolve, whose catalog is `recorded`."""

    def __init__(self, inquiry: Inquiry, recorded: RecordingCatalog) -> None:
        self._inquiry = inquiry
        self._answers = recorded.answers

    def read_item(self, item: Item, declaration: str, catalog: CatalogView) -> ItemReading:
        """As `resolution.items.read_item`. Kept is what has no faults: those name the declaration, and what is
        suggested for them has an end in each document."""
        lookups = self._inquiry.lookups
        words = item[:4]  # all but its place
        known = lookups.get(words)
        if known is None:
            asked = RecordingCatalog(self._inquiry)
            reading = read_item(item, declaration, SparingCatalog(asked, Allowance(0)))
            if reading.faults:
                return read_item(item, declaration, catalog)
            known = reading, asked.answers
            if len(lookups) < MOST and len("".join((item.text, *item.groups))) <= LONGEST:
                lookups[words] = known
        reading, answers = known
        self._answers.update(answers)
        return reading
