"""What the shipped catalog costs a compile: loading it, compiled, and the tools that a document uses.

    python -m bench.loading [--runs 50]

The least of all runs counts. The bound is 15 ms.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from catalog.load import load_catalog

USED = ("slack", "google_workspace", "microsoft_365")
"""Two of the usual size, and the largest that there is."""


def main(runs: int = 50) -> None:
    with tempfile.TemporaryDirectory() as folder:
        tools = load_catalog(cache_dir=Path(folder)).tools()
        count = sum(len(tool.operations or ()) for tool in tools)
        print(f"catalog: {len(tools)} tools, {count} operations")
        loads, uses = [], dict[str, list[float]]()
        for _ in range(runs):
            start = time.perf_counter()
            catalog = load_catalog(cache_dir=Path(folder))
            loads.append(time.perf_counter() - start)
            for name in USED:
                start = time.perf_counter()
                catalog.tool(name)
                uses.setdefault(name, []).append(time.perf_counter() - start)
    print(f"{'a load from the compiled form':<34}{min(loads) * 1000:>9.2f} ms  (at most 15)")
    for name, took in uses.items():
        print(f"{'then ' + name:<34}{min(took) * 1000:>9.2f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=50)
    main(parser.parse_args().runs)
