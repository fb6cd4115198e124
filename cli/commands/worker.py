"""`aop worker parse|resolve|generate|verify`: one stage's worker."""

from __future__ import annotations

import os

from cli.service import load_settings, traced
from workers import logs
from workers.ledger.records import Stage
from workers.metrics.endpoint import shown
from workers.queues import Taken


def run(stage: Stage, *, job_class: Taken = "both") -> int:
    """Until it is asked to end; the exit status. Raises OutputFault, OSError."""
    # Read by billiard when it is imported: SIGTERM, which every supervisor sends, begins the soft shutdown instead of
    # one that waits for ever.
    os.environ["REMAP_SIGTERM"] = "SIGQUIT"
    settings = load_settings()
    group = f"worker-{stage}" if job_class == "both" else f"worker-{stage}-{job_class}"
    logs.configure(settings, group)
    with traced(settings, group, by_children=True), shown(settings, group):
        # Imported when the signal and the metrics' folder are set.
        from workers.worker import run_worker  # noqa: PLC0415 - see above

        return run_worker(settings, stage, job_class, group)
