"""What a mistake costs a compile: the first one, for which the words of the catalog are learnt, and each one after.

    python -m bench.suggesting

Of processor time, over the shipped catalog and slips in its own words.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

from catalog.load import load_catalog
from catalog.snapshot import Catalog


def main() -> None:
    written = tuple(_slips(load_catalog()))
    catalog = load_catalog()
    start = time.process_time()
    catalog.suggest_tools(written[0], None)
    first = time.process_time() - start
    start = time.process_time()
    for word in written[1:]:
        catalog.suggest_tools(word, None)
    each = (time.process_time() - start) / (len(written) - 1)
    print(f"{'the first unknown name':<34}{first * 1000:>9.2f} ms")
    print(f"{f'each of {len(written) - 1} others':<34}{each * 1000:>9.2f} ms  (at most 0.3)")


def _slips(catalog: Catalog) -> Iterator[str]:
    """Every word of the catalog, its third character doubled."""
    for tool in catalog.tools():
        hints = (hint for category in tool.categories for hint in (category.title, *category.hints))
        for word in dict.fromkeys((tool.name, tool.title, *tool.hints, *hints)):
            yield word[:3] + word[2:]


if __name__ == "__main__":
    main()
