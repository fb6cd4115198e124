"""What a procedure runs on is pinned and hashed like everything else that `make` installs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PINNED = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; .+)?")
EXTRAS = ("run", "mcp", "anthropic", "google")


def pins(name: str) -> dict[str, str]:
    """Versions by package. Each has hashes, and the file has nothing else: no index, no address."""
    found: dict[str, str] = {}
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8").replace(" \\\n    ", " ")
    for line in text.splitlines():
        requirement, *hashes = line.split(" --hash=")
        match = PINNED.fullmatch(requirement)
        assert match is not None, line
        assert hashes, line
        assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", digest) for digest in hashes), line
        found[match[1]] = match[2]
    return found


def test_all_that_the_extras_name_is_pinned() -> None:
    """In a version that they allow, with what the extras of other packages bring."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = [
        *project["dependencies"],
        *(entry for extra in EXTRAS for entry in project["optional-dependencies"][extra]),
    ]
    pinned = pins("runtime")
    for requirement in map(Requirement, named):
        assert requirement.specifier.contains(pinned[canonicalize_name(requirement.name)]), requirement
    assert {"openai", "anthropic", "google-genai"} <= pinned.keys()


@pytest.mark.parametrize("other", ["run", "dev"])
def test_one_version_of_a_package_is_pinned_everywhere(other: str) -> None:
    """So one environment takes one file after the other; what running needs is there for the tests as well."""
    runtime, beside = pins("runtime"), pins(other)
    both = runtime.keys() & beside.keys()
    assert both == (runtime.keys() if other == "dev" else beside.keys())
    assert {name: runtime[name] for name in both} == {name: beside[name] for name in both}
