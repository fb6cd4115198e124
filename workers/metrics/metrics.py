"""What processes count and time as they work. Figures that the ledger knows are in `ledger_figures`.

prometheus-client decides when it is imported whether values go into files that several processes share, so
`folder.use` comes before the first import of this module.
"""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Histogram

_STAGE_BUCKETS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_STORE_BUCKETS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 20)

stage_seconds: Final = Histogram(
    "aop_stage_seconds",
    "Time of one attempt of a stage, in seconds. outcome: sent, ended, lost, superseded, retry, dead",
    ("stage", "outcome"),
    buckets=_STAGE_BUCKETS,
)
stage_reuse: Final = Counter(
    "aop_stage_reuse_total", "What stages did, by the reason (spec R3): `same` was reused", ("stage", "reason")
)
diagnostics: Final = Counter("aop_diagnostics_total", "Diagnostics of compiled documents", ("name",))
generator_rewrites: Final = Counter(
    "aop_generator_rewrites_total", "Phases that the verifier sent back to their generator"
)
store_seconds: Final = Histogram(
    "aop_store_seconds",
    "Time of one operation of the artifact store, in seconds",
    ("operation",),
    buckets=_STORE_BUCKETS,
)
store_errors: Final = Counter("aop_store_errors_total", "Operations of the artifact store that failed", ("operation",))
webhook_requests: Final = Counter("aop_webhook_requests_total", "Saves that came in over HTTP", ("source", "status"))
messages_refused: Final = Counter(
    "aop_messages_refused_total",
    "Messages that ran nothing. reason: gone, ended, elsewhere, leased, superseded, dead, malformed, unknown-task",
    ("reason",),
)
