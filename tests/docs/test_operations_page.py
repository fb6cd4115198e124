"""The pages about operating the service name the settings, records, keys and figures that there are, and no others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from prometheus_client import Counter, Gauge, Histogram

from cli.commands.config import _text, rows
from workers.metrics import dispatching, metrics
from workers.settings import Settings

from .snippets import ROOT
from .test_cli_pages import table

PAGES = [ROOT / "docs" / "operations.ja.md", ROOT / "docs" / "operations.md"]
NAMES = [page.name for page in PAGES]


def section(page: Path, number: int) -> str:
    """The chapter of that number: both pages have the same ones in the same order."""
    return re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)[number]


def settings_of(page: Path) -> dict[str, str]:
    """Variable and default, from the tables of the chapter."""
    found = re.findall(r"^\| `(AOP_\w+)` \| (.*?) \| .+ \|$", section(page, 3), re.MULTILINE)
    assert len(found) == len(dict(found)), "a setting stands there twice"
    return {name: "-" if default == "–" else default.strip("`") for name, default in found}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_setting_is_there_with_its_default(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As `aop config` shows them where nothing is set."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"AOP_{name.upper()}", raising=False)
    assert settings_of(page) == {name: _text(value) for name, value, _ in rows(Settings())}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_is_secret_is_said_so(page: Path) -> None:
    """So that it is put where secrets are kept."""
    secret = {name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)}
    said = re.findall(r"^\| `AOP_(\w+)` \|.*(?:Secret|シークレット) \|$", section(page, 3), re.MULTILINE)
    assert {name.lower() for name in said} == secret


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_key_of_redis_stands_in_the_table(page: Path) -> None:
    """Those of `lua/keys.lua` and of the modules that keep their own; none that is no more."""
    source = (ROOT / "workers" / "ledger" / "lua" / "keys.lua").read_text(encoding="utf-8")
    keys = set(re.findall(r"^-- P:([a-z-]+)", source, re.MULTILINE)) | set(re.findall(r"others: P:([a-z-]+)", source))
    for path in (ROOT / "workers").glob("*.py"):
        keys |= set(re.findall(r'f"\{(?:self\._?)?(?:prefix|_prefix)\}:([a-z-]+)', path.read_text(encoding="utf-8")))
    shown = {key.rstrip(":") for key in re.findall(r"`P:([a-z-]+:?)`", section(page, 2))}
    assert shown == keys


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_record_of_the_store_stands_in_the_table(page: Path) -> None:
    """The families of pointers."""
    names: set[str] = set()
    for path in (ROOT / "workers").glob("*.py"):
        text = path.read_text(encoding="utf-8")
        names |= set(re.findall(r'return f"([a-z-]+/)', text)) | set(re.findall(r'f"(dead/)\{', text))
        names |= set(re.findall(r'^_?[A-Z]+: Final = "([a-z-]+/(?:catalogs)?)"$', text, re.MULTILINE))
        names |= set(re.findall(r'set_pointer\("([a-z]+)"', text))
    rows_ = re.findall(r"^\| .* \| (.*) \| .* \|$", section(page, 2), re.MULTILINE)
    assert {name for cell in rows_ for name in re.findall(r"`([^`]+)`", cell)} == names


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_figure_is_named(page: Path) -> None:
    """Those that processes count and those of the exporter."""
    counted = {
        f"{value._name}_total" if isinstance(value, Counter) else value._name
        for value in (*vars(metrics).values(), *vars(dispatching).values())
        if isinstance(value, Counter | Gauge | Histogram)
    }
    source = (ROOT / "workers" / "metrics" / "ledger_figures.py").read_text(encoding="utf-8")
    for kind, name in re.findall(r'(Counter|Gauge)MetricFamily\(\s*"(\w+)"', source):
        counted.add(f"{name}_total" if kind == "Counter" else name)
    counted |= set(re.findall(r'\("(aop_\w+_expiry_seconds)"', source))
    assert set(re.findall(r"`(aop_\w+)`", section(page, 5))) == counted


def test_both_languages_say_the_same() -> None:
    """Chapters, rows, and what stands in code."""
    japanese, english = (page.read_text(encoding="utf-8") for page in PAGES)
    for pattern in (r"^#+ ", r"^\|", r"^- \*\*", r"`AOP_\w+`", r"`aop [a-z ]+"):
        assert len(re.findall(pattern, japanese, re.MULTILINE)) == len(re.findall(pattern, english, re.MULTILINE)), (
            pattern
        )
    assert japanese.count("†") == english.count("†")


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_the_table_of_sizes_can_be_filled(page: Path) -> None:
    """Between its marks, by whoever measured."""
    text = page.read_text(encoding="utf-8")
    assert text.index("<!-- sizing:begin -->") < text.index("<!-- sizing:end -->")
    assert table(page, "<!-- sizing:begin -->") is not None
