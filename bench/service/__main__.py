"""Every measure of the service, from one run. Figures depend on the machine; the ratios do less."""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple
from urllib.request import urlopen

from bench.compiling import document  # the same documents of 2 KB and five phases
from bench.service.bare import DONE, send
from bench.service.installation import Installation
from pipeline.compiler import Compiler, Options
from pipeline.generators.registry import default_registry
from workers.app import make_app
from workers.bulk.plan import Planner
from workers.bulk.scope import Scope
from workers.catalogs import Catalogs
from workers.ledger.ledger import new_id
from workers.ledger.recompiles import Recompiles
from workers.ledger.records import STAGES
from workers.project import LedgerProject

THROUGH: Final = 2_000
ROUNDS: Final = 3
LOOK_S: Final = 0.05
"""While many documents are under way: whoever looks takes of the same processors."""
LIBRARY: Final = 10_000
IDLE: Final = 50

_LUA: Final = """
local n = 0
request = function()
  n = n + 1
  local body = "# 文書 " .. n .. "\\n\\n## フェーズ 1: 集める\\n\\n(使う道具: sandbox)\\n\\n集計します。\\n"
  return wrk.format("PUT", "/v1/documents/bench/" .. (n % 500) .. ".md", {["Authorization"] = "Bearer TOKEN"}, body)
end
"""


def main() -> None:
    _saves()
    _idle()
    # As many processes a worker as the settings begin with, and as many as Celery would.
    for processes in sorted({1, os.cpu_count() or 1}):
        _beside_bare(processes)
    _s3()
    _bulk()


def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="aop-bench-", ignore_cleanup_errors=True)


def _saves() -> None:
    wrk = shutil.which("wrk")
    if wrk is None:
        print("saves accepted: no wrk on this machine")
        return
    with _folder() as name, Installation(Path(name), AOP_QUIET_MS="60000", AOP_LONGEST_WAIT_MS="60000") as found:
        found.start("server")
        found.wait(lambda: _answers(found.url), "server")
        script = Path(name) / "save.lua"
        script.write_text(_LUA.replace("TOKEN", found.token()))
        command = [wrk, "-t1", "-c16", "-d10s", "--latency", "-s", str(script), found.url]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        rate = re.search(r"Requests/sec:\s+([\d.]+)", text)
        spread = dict(re.findall(r"(50|99)%\s+([\d.]+m?u?s)", text))
        refused = re.search(r"Non-2xx.*", text)
        print(
            f"saves accepted over HTTP: {rate[1] if rate else '?'} a second, p50 {spread.get('50')}, "
            f"p99 {spread.get('99')} (wrk, 16 connections{', ' + refused[0] if refused else ''})"
        )


def _answers(url: str) -> bool:
    return _get(f"{url}/readyz")


def _get(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):  # noqa: S310 - our own server
            return True
    except OSError:
        return False


def _idle() -> None:
    with _folder() as name, Installation(Path(name)) as found:
        found.start("dispatcher", *STAGES)
        found.wait_for_workers()
        took = [_one_save(found, number) for number in range(IDLE + 5)][5:]
        print(
            f"idle, save to published: median {statistics.median(took) * 1_000:.0f} ms, "
            f"p95 {sorted(took)[int(len(took) * 0.95)] * 1_000:.0f} ms (no quiet time, {IDLE} saves)"
        )
        _memory(found)


def _one_save(found: Installation, number: int) -> float:
    before = found.ended()
    begun = time.perf_counter()
    found.intake.accept(f"idle/{number}.md", data=document(number).encode(), source="bench")
    found.wait(lambda: found.ended() > before, "a save")
    return time.perf_counter() - begun


def _memory(found: Installation) -> None:
    print("memory (PSS, with children), MB:", end="")
    for name in ("dispatcher", *STAGES):
        pid = found.supervisor.pid(name)
        if pid is not None:
            print(f" {name} {_pss(pid) / 1_024:.0f}", end="")
    print(f" valkey {_pss(found.valkey_pid) / 1_024:.0f}")


def _pss(pid: int) -> int:
    """KiB of the process and its children: shared pages counted once among those who share them."""
    total = 0
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    total += int(re.search(r"^Pss:\s+(\d+)", rollup, re.M)[1])  # type: ignore[index]  # the kernel's form
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        total += sum(_pss(int(child)) for child in children.read_text().split())
    return total


class Rate(NamedTuple):
    """`documents` a second; `spent`: processor ms a document, by stage."""

    documents: float
    spent: Mapping[str, float]


def _beside_bare(processes: int) -> None:
    """In turns, since the machine's speed changes while others use it; the round in the middle counts."""
    rounds = sorted(((_bare(processes), _through(processes)) for _ in range(ROUNDS)), key=_share)
    bare, ours = rounds[ROUNDS // 2]
    spent = ", ".join(f"{stage} {ms:.1f}" for stage, ms in ours.spent.items())
    print(
        f"four stages, file store, {processes} process{'es' if processes > 1 else ''} a worker: "
        f"{ours.documents:.0f} documents a second = {_share((bare, ours)):.2f} x bare Celery, {bare.documents:.0f} "
        f"({ROUNDS} rounds: {', '.join(f'{_share(pair):.2f}' for pair in rounds)}); "
        f"processor time a document, ms: {spent}; bare {sum(bare.spent.values()):.1f}"
    )


def _share(pair: tuple[Rate, Rate]) -> float:
    bare, ours = pair
    return ours.documents / bare.documents


def _bare(processes: int) -> Rate:
    """Documents through four empty tasks."""
    with _folder() as name, Installation(Path(name), AOP_CONCURRENCY=str(processes)) as found:
        for stage in STAGES:
            found.run(stage, ["-m", "bench.service.bare", stage])
        app = make_app(found.settings)
        send(app, new_id(), "parse")
        found.wait(lambda: int(found.redis.get(DONE) or 0) >= 1, "bare workers")
        cpu = _spent(found)
        for _ in range(THROUGH):
            send(app, new_id(), "parse")
        left = THROUGH - int(found.redis.get(DONE) or 0)
        seconds = found.wait(lambda: int(found.redis.get(DONE) or 0) > THROUGH, "bare tasks", 300, LOOK_S)
        return Rate(left / seconds, _since(found, cpu))


def _through(processes: int, *, s3: bool = False) -> Rate:
    with _folder() as name, Installation(Path(name), s3=s3, AOP_CONCURRENCY=str(processes)) as found:
        found.start(*STAGES)
        found.wait_for_workers()
        for number in range(THROUGH):
            found.intake.accept(f"through/{number}.md", data=document(number).encode(), source="bench")
        cpu = _spent(found)
        found.start("dispatcher")
        found.wait(lambda: found.ended() >= 1, "the first document")
        begun, at = time.perf_counter(), found.ended()
        found.wait(lambda: found.ended() >= THROUGH, "documents", 600, LOOK_S)
        return Rate((THROUGH - at) / (time.perf_counter() - begun), _since(found, cpu))


def _s3() -> None:
    print(f"four stages, S3 (SeaweedFS), 1 process a worker: {_through(1, s3=True).documents:.0f} documents a second")


def _since(found: Installation, before: Mapping[str, float]) -> dict[str, float]:
    return {stage: (spent - before[stage]) * 1_000 / THROUGH for stage, spent in _spent(found).items()}


def _spent(found: Installation) -> dict[str, float]:
    """Processor seconds of each worker and its children."""
    return {stage: _cpu(found.supervisor.pid(stage) or 0) for stage in STAGES}


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    total = (int(fields[11]) + int(fields[12])) / 100
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        total += sum(_cpu(int(child)) for child in children.read_text().split())
    return total


def _bulk() -> None:
    with _folder() as name, Installation(Path(name)) as found:
        found.start("dispatcher", *STAGES)
        found.wait_for_workers()
        for number in range(LIBRARY):
            found.intake.accept(f"library/{number}.md", data=document(number).encode(), source="bench")
        found.wait(lambda: found.ended() >= LIBRARY, "the library", 1_200)
        begun = time.perf_counter()
        plan = _planner(found).plan(Scope(all=True), found.ledger.documents(), lambda _: True)
        print(
            f"bulk, {plan.total} documents unchanged: plan {time.perf_counter() - begun:.2f} s, "
            f"{len(plan.documents)} run"
        )
        changed = [f"library/{number}.md" for number in range(0, LIBRARY, 100)]
        recompiles = Recompiles(found.ledger, found.redis, found.settings.redis_prefix)
        before = found.ended()
        begun = time.perf_counter()
        recompiles.begin("bench-token-0123456789", changed, json.dumps({"ids": changed}), plan.catalog, "bench")
        found.wait(lambda: found.ended() >= before + len(changed), "recompiles", 300)
        print(f"bulk, 1 % of {LIBRARY} again: {time.perf_counter() - begun:.2f} s")


def _planner(found: Installation) -> Planner:
    catalogs = Catalogs(found.store, found.redis, found.settings.redis_prefix)
    digest = catalogs.current()
    compiler = Compiler(catalogs.get(digest), found.store, default_registry().find(), Options())
    recompiles = Recompiles(found.ledger, found.redis, found.settings.redis_prefix)
    return Planner(found.archive, recompiles, compiler, digest, LedgerProject(found.ledger))


if __name__ == "__main__":
    main()
