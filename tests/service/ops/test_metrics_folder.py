"""Given processes that count in files, when they die, start again or are scraped, then no count is lost or doubled.

prometheus-client decides when it is imported where it counts, so each test is a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from workers.local.servers import free_ports
from workers.metrics.folder import GroupCollector

_SCRIPT = """
import json, os, signal, sys, threading, time
from pathlib import Path
from workers.metrics import folder
from workers.metrics.folder import GroupCollector, compact, registry_of, use
root = Path(sys.argv[1])
own = use(root, "worker-parse")
from prometheus_client import generate_latest
from workers.metrics import metrics

def count(times):
    for _ in range(times):
        metrics.stage_seconds.labels("parse", "sent").observe(0.003)
        metrics.stage_reuse.labels("parse", "same").inc()

def child(times, end=lambda: os._exit(0)):
    pid = os.fork()
    if pid == 0:
        count(times)
        end()
        os._exit(0)
    return pid

def files():
    return sorted(path.name for path in own.glob("*.db"))

def counts():
    lines = generate_latest(registry_of(own)).decode().splitlines()
    values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    return [float(values.get(name, 0)) for name in (
        'aop_stage_reuse_total{reason="same",stage="parse"}',
        'aop_stage_seconds_count{outcome="sent",stage="parse"}',
        'aop_stage_seconds_bucket{le="0.005",outcome="sent",stage="parse"}',
        'aop_stage_seconds_bucket{le="0.0025",outcome="sent",stage="parse"}')]
"""


def run(code: str, folder: Path) -> Any:  # noqa: ANN401 - JSON
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT + code, str(folder)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_group_counts_together_and_begins_with_nothing(tmp_path: Path) -> None:
    """Parent and children; what an earlier group of that name left is cleared, other groups are left alone."""
    (tmp_path / "worker-parse").mkdir()
    (tmp_path / "server").mkdir()
    run("count(1); print(1)", tmp_path)
    (tmp_path / "server" / "counter_1.db").write_bytes(b"")
    found = run(
        "before = counts(); count(1); os.waitpid(child(2), 0); print(json.dumps([before, counts()]))",
        tmp_path,
    )
    assert found == [[0, 0, 0, 0], [3, 3, 3, 0]]
    assert (tmp_path / "server" / "counter_1.db").exists()


def test_the_counts_of_the_dead_are_kept_in_one_file(tmp_path: Path) -> None:
    """However many children die; those of the living stay theirs, and go on counting."""
    found = run(
        """
ready, go = os.pipe(), os.pipe()
def wait():
    os.write(ready[1], b"x"); os.read(go[0], 1); count(1)
living = child(1, wait)
os.read(ready[0], 1)
for _ in range(20):
    os.waitpid(child(2), 0)
before = counts()
gone = compact(own)
after, left = counts(), files()
for _ in range(5):
    os.waitpid(child(2), 0)
second = compact(own)
os.write(go[1], b"x"); os.waitpid(living, 0)
third = compact(own)
print(json.dumps([before, after, gone, len(left), second, third, compact(own), counts(), len(files())]))
""",
        tmp_path,
    )
    before, after, gone, left, second, third, fourth, end, last = found
    assert before == after == [41, 41, 41, 0]
    assert (gone, second, third, fourth) == (40, 10, 2, 0)
    assert end == [52, 52, 52, 0]
    assert left == 1 + 2 + 2  # the parent's, and a counter's and a histogram's of the living child and of the dead
    assert last == 1 + 2


def test_a_live_gauge_ends_with_its_process(tmp_path: Path) -> None:
    """The living one's is shown, whatever a dead one last said; its file goes with the next compaction."""
    shown, kept, again = run(
        """
from workers.metrics.dispatching import catalog_wrong

def gauge():
    lines = generate_latest(registry_of(own)).decode().splitlines()
    return [line for line in lines if line.startswith("aop_catalog_wrong")]

def gauges():
    return len([name for name in files() if name.startswith("gauge_live")])

ready, go = os.pipe(), os.pipe()
pid = os.fork()
if pid == 0:
    catalog_wrong.set(1); os.write(ready[1], b"x"); os.read(go[0], 1); os._exit(0)
os.read(ready[0], 1)
while_it_lives = gauge()
os.write(go[1], b"x"); os.waitpid(pid, 0)
afterwards, before = gauge(), gauges()
compact(own)
after = gauges()
catalog_wrong.set(0)
print(json.dumps([[while_it_lives, afterwards], [before, after], gauge()]))
""",
        tmp_path,
    )
    assert shown == [["aop_catalog_wrong 1.0"], []]
    assert kept == [2, 1]
    assert again == ["aop_catalog_wrong 0.0"]


def test_a_scrape_never_sees_a_count_twice_or_not_at_all(tmp_path: Path) -> None:
    """Prometheus would take either for a restart, and add all counts again."""
    found = run(
        """
seen, stop = [], threading.Event()
def scrape():
    while not stop.is_set():
        seen.append(counts()[0])
thread = threading.Thread(target=scrape); thread.start()
expected = 0
for _ in range(40):
    os.waitpid(child(5), 0)
    compact(own)
stop.set(); thread.join()
print(json.dumps([seen, counts()[0]]))
""",
        tmp_path,
    )
    seen, end = found
    assert end == 200
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert all(value % 5 == 0 or value <= end for value in seen)


def test_a_child_killed_as_it_writes_spoils_nothing(tmp_path: Path) -> None:
    """A file that was only begun, one with a length that is wrong, and one with half a key: the others still count."""
    found = run(
        """
os.waitpid(child(3), 0)
(own / "counter_999999991.db").write_bytes(b"")
(own / "counter_999999992.db").write_bytes((4096).to_bytes(4, "little") + b"\\0" * 4 + (9000).to_bytes(4, "little") * 9)
(own / "histogram_999999993.db").write_bytes((64).to_bytes(4, "little") + b"\\0" * 4 + (8).to_bytes(4, "little")
                                             + b"[no json" + b"\\0" * 60)
before = counts()
compact(own)
print(json.dumps([before, counts(), [name for name in files() if "99999999" in name]]))
""",
        tmp_path,
    )
    assert found == [[3, 3, 3, 0], [3, 3, 3, 0], []]


def test_the_folder_must_be_chosen_before_anything_counts(tmp_path: Path) -> None:
    """Else counts would silently stay with each process."""
    found = run(
        """
try:
    use(root, "late")
except RuntimeError as error:
    print(json.dumps(str(error)))
""",
        tmp_path,
    )
    assert "before prometheus_client is imported" in found


def test_a_process_shows_its_group_where_it_is_asked_to(tmp_path: Path) -> None:
    """Over HTTP, its children's counts among it; the port is free again afterwards."""
    (port,) = free_ports(1)
    code = """
import subprocess
from pydantic import SecretStr
from workers.metrics.endpoint import shown
from workers.settings import Settings
settings = Settings(metrics_folder=Path(sys.argv[1]), metrics_port=int(sys.argv[2]))
with shown(settings, "worker-verify"):
    from workers.metrics import metrics
    if os.fork() == 0:
        metrics.diagnostics.labels("x").inc(2); os._exit(0)
    os.wait()
    text = urlopen(f"http://127.0.0.1:{sys.argv[2]}/metrics").read().decode()
try:
    urlopen(f"http://127.0.0.1:{sys.argv[2]}/metrics"); closed = False
except OSError:
    closed = True
print(json.dumps([text, closed]))
"""
    head = "import json, os, sys\nfrom pathlib import Path\nfrom urllib.request import urlopen\n"
    done = subprocess.run(
        [sys.executable, "-c", head + code, str(tmp_path), str(port)], capture_output=True, text=True, timeout=60,
        check=False, env={**os.environ, "PYTHONPATH": str(Path.cwd())},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    text, closed = json.loads(done.stdout)
    assert 'aop_diagnostics_total{name="x"} 2.0' in text
    assert closed is True
    assert done.stderr == ""


def test_an_exporter_shows_all_groups_of_the_machine(tmp_path: Path) -> None:
    """Also a folder that is no group, and one whose group has just ended, are no obstacle."""
    run("count(4); print(1)", tmp_path)
    (tmp_path / "stray").mkdir()
    (tmp_path / "stray" / "counter_1.db").write_bytes(b"")
    registry = CollectorRegistry()
    registry.register(GroupCollector(tmp_path))
    families = {family.name: family for family in text_string_to_metric_families(generate_latest(registry).decode())}
    assert [sample.value for sample in families["aop_stage_reuse"].samples if sample.name.endswith("_total")] == [4.0]
