"""What dispatchers alone count and show, so that no worker shows a figure that it knows nothing of.

As for `metrics`, `folder.use` comes before the first import of this module.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge

catalog_wrong: Final = Gauge(
    "aop_catalog_wrong",
    "1 while the catalog folder's files are refused and the earlier catalog stays, else 0",
    multiprocess_mode="livemostrecent",
)
server_lists: Final = Counter(
    "aop_server_lists_total",
    "Lists of MCP servers that were asked for again. outcome: changed, same, failed",
    ("outcome",),
)
