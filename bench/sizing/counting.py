"""Requests to S3 by operation: every process has a proxy of its own between itself and the bucket."""

from __future__ import annotations

import subprocess
import sys
from contextlib import ExitStack
from os import environ
from pathlib import Path
from typing import Final

from bench.service.installation import Installation
from bench.sizing.client import Client
from bench.sizing.costs import Requests, S3Requests
from bench.sizing.runs import service
from bench.sizing.s3_proxy import Counted, CountingProxy
from workers.ledger.records import STAGES, Stage

_UPKEEP_S: Final = 120


def measure_requests(folder: Path, count: int) -> S3Requests:
    """Of `count` documents, each saved alone; of upkeep, what twice as many more make it ask more."""
    with ExitStack() as stack:
        running = stack.enter_context(service(folder, s3=True))
        found = running.found
        endpoint = found.environment["AOP_S3_ENDPOINT"]
        proxies = {name: stack.enter_context(CountingProxy(endpoint)) for name in ("server", *STAGES)}
        for name, proxy in proxies.items():
            words = ["server"] if name == "server" else ["worker", name, "--class", "both"]
            environment = f"AOP_S3_ENDPOINT={proxy.endpoint}"
            found.supervisor.add(name, ["env", environment, sys.executable, "-m", "cli", *words])
        found.start("dispatcher")
        client = stack.enter_context(Client(found))
        found.wait(client.answers, "server")
        found.wait_for_workers()
        client.put(0)
        running.wait_for(1)

        def counted(texts: range) -> tuple[Requests, dict[Stage, Requests]]:
            before = {name: proxy.counted() for name, proxy in proxies.items()}
            for number in texts:
                at = found.ended()
                client.put(number)
                running.wait_for(at + 1)
            each = {name: (proxy.counted() - before[name]).each(len(texts)) for name, proxy in proxies.items()}
            return each["server"], {stage: each[stage] for stage in STAGES}

        texts = range(1, count + 1)
        save, compiled = counted(texts)
        few = _upkeep(found, endpoint, client, proxies["server"])
        _, unchanged = counted(texts)
        again = _upkeep(found, endpoint, client, proxies["server"])
        counted(range(count + 1, 3 * count + 1))
        many = _upkeep(found, endpoint, client, proxies["server"])
        extra = 2 * count
        return S3Requests(
            save=save,
            compile=compiled,
            unchanged=unchanged,
            plan=(many["plan"] - again["plan"]).each(extra, ordered=False),
            gc=(many["gc"] - again["gc"]).each(extra, ordered=False),
            gc_save=(again["gc"] - few["gc"]).each(count, ordered=False),
            reindex=(many["reindex"] - again["reindex"]).each(extra, ordered=False),
            reindex_save=(again["reindex"] - few["reindex"]).each(count, ordered=False),
        )


def _upkeep(found: Installation, endpoint: str, client: Client, server: CountingProxy) -> dict[str, Counted]:
    before = server.counted()
    client.plan()
    counted = {"plan": server.counted() - before}
    for name in ("gc", "reindex"):
        with CountingProxy(endpoint) as proxy:
            environment = {**environ, **found.environment, "AOP_S3_ENDPOINT": proxy.endpoint}
            command = [sys.executable, "-m", "cli", "admin", name]
            subprocess.run(command, env=environment, check=True, capture_output=True, timeout=_UPKEEP_S)
            counted[name] = proxy.counted()
    return counted
