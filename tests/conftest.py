"""Hypothesis: few examples by default, `HYPOTHESIS_PROFILE=nightly` for at least ten thousand a property. What fails
shows what the processes that it started wrote last."""

import contextlib
import os
import signal
import sys
from collections.abc import Generator
from importlib.util import find_spec
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("default", max_examples=50, deadline=None)
settings.register_profile(
    "nightly",
    max_examples=10_000,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# cmark is built with a C compiler, which `make test` does not ask for; `make reference` brings it and runs these.
collect_ignore = [] if find_spec("paka") else ["reference"]

# Who starts the tests in the background, or under nohup, has them ignore Ctrl-C and hanging up, and whatever they start
# as well; some of it is ended so on purpose.
signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP"):
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

# What hundreds of processes load is compiled once, as in an installation, also where the shell says otherwise: it takes
# longer than most of what they are started for.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

LAST_LINES: Final = 40
"""Of the log of each process, below a failure."""
_FOLDER: Final = pytest.StashKey[Path]()


@pytest.fixture(scope="session", autouse=True)
def _folder_of_logs(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> None:
    request.config.stash[_FOLDER] = tmp_path_factory.getbasetemp()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that wait for many processes begin first: what is left at the end is short, and keeps everybody busy."""
    items.sort(key=lambda item: "service" not in item.path.parts)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Below a failure stands what each process wrote last, if it wrote anything meanwhile."""
    report = yield
    folder = item.config.stash.get(_FOLDER, None)
    if report.failed and folder is not None:
        for path in sorted(folder.rglob("*.log")):
            with contextlib.suppress(OSError):  # gone by now, or no file
                if path.stat().st_mtime >= call.start and path.stat().st_size:
                    lines = path.read_text(errors="replace").splitlines()[-LAST_LINES:]
                    report.sections.append((f"end of {path.relative_to(folder)}", "\n".join(lines)))
    return report
