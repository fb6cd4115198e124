"""`python -m bench.sizing measure | check | table | write`: how large an installation must be."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from bench.sizing import bounds, costs, loads, tables
from bench.sizing.costs import Costs
from bench.sizing.extrapolation import size
from bench.sizing.loads import Loads
from bench.sizing.reproduction import checks
from bench.sizing.tables import Lang, Words

DOCS: Final = Path(__file__).parents[2] / "docs"
PAGES: Final[dict[Lang, Path]] = {"ja": DOCS / "operations.ja.md", "en": DOCS / "operations.md"}


def main(words: Sequence[str] | None = None) -> int:
    """Exit status 1 where the simulation does not give what was measured: then the costs are not to be believed."""
    parser = argparse.ArgumentParser(prog="python -m bench.sizing", description=__doc__)
    parser.add_argument("--costs", type=Path, default=costs.COSTS, help="read or, with measure, written")
    parser.add_argument("--loads", type=Path, default=loads.LOADS, help="for table: documents, use, prices, limits")
    parser.add_argument("--lang", choices=("ja", "en"), default="en", help="for check and table")
    parser.add_argument("what", choices=("measure", "check", "table", "write"))
    asked = parser.parse_args(words)
    if asked.what == "measure":
        return _measure(asked.costs)
    found, wanted = costs.load(asked.costs), loads.load(asked.loads)
    if asked.what == "check":
        return _check(found, asked.lang)
    if asked.what == "table":
        print("\n\n".join(parts(found, wanted, asked.lang).values()))
    else:
        for lang, page in PAGES.items():
            text = written(page.read_text(encoding="utf-8"), parts(found, wanted, lang))
            page.write_text(text, encoding="utf-8")
    return 0


def _measure(path: Path) -> int:
    from bench.sizing.measure import measure  # noqa: PLC0415 - the servers of development: only who measures needs them

    found = measure(lambda text: print(text, flush=True))
    status = _check(found, "en")
    if status:
        path = path.with_suffix(".refused.json")
    costs.save(found, path)
    print(f"written to {path}")
    return status


def _check(found: Costs, lang: Lang) -> int:
    compared = list(checks(found))
    print(tables.render(_CHECK_HEAD, tables.check_rows(compared), lang))
    wrong = [check.name for check in compared if not check.holds]
    if wrong:
        print(
            f"not reproduced: {'; '.join(wrong)}. Measure again while the machine does nothing else.", file=sys.stderr
        )
    return int(bool(wrong))


_COST_HEAD: Final[tuple[Words | str, ...]] = (Words("項目", "Cost"), Words("値", "Value"))
_CHECK_HEAD: Final[tuple[Words | str, ...]] = (
    Words("項目", "Figure"),
    Words("ほかが使ったコア", "Cores that others used"),
    Words("測った値", "Measured"),
    Words("模擬した値", "Simulated"),
    Words("許す差", "May differ by"),
)
_BOUND_HEAD: Final[tuple[Words | str, ...]] = (
    Words("一つの設置の限り", "What bounds one installation"),
    Words("文書", "Documents"),
)


def parts(found: Costs, wanted: Loads, lang: Lang) -> dict[str, str]:
    """The tables by the names of their marks."""
    head: list[Words | str] = [Words("文書", "Documents"), *(f"{documents:,}" for documents in wanted.documents)]
    sizes = [size(found, wanted, documents) for documents in wanted.documents]
    return {
        "sizing": tables.render(_COST_HEAD, tables.cost_rows(found), lang),
        "reproduction": tables.render(_CHECK_HEAD, tables.check_rows(list(checks(found))), lang),
        "sizes": tables.render(head, tables.size_rows(wanted, sizes), lang),
        "bounds": tables.render(_BOUND_HEAD, tables.bound_rows(bounds.limits(found, wanted)), lang),
    }


def written(page: str, made: Mapping[str, str]) -> str:
    """The page with its tables. Raises ValueError where it lacks their marks."""
    for name, text in made.items():
        page = tables.put_between(page, name, text)
    return page


if __name__ == "__main__":
    sys.exit(main())
