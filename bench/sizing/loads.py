"""What an installation is to do, and what it may take: loads.toml beside this module, or the operator's own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from bench.sizing.costs import Closed, Requests

LOADS: Final = Path(__file__).with_name("loads.toml")

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=1)]
Count = Annotated[int, Field(ge=1)]


class Use(Closed):
    saves_a_day: Positive
    day_hours: Annotated[float, Field(gt=0, le=24)]
    working_days: Annotated[float, Field(gt=0, le=31)]
    peak: Annotated[float, Field(ge=1)]
    burst: Count
    p95_s: Positive
    recompile_hours: Positive
    recompiles: Annotated[float, Field(ge=0)]
    gc_runs: Annotated[float, Field(ge=0)]
    history: Annotated[float, Field(ge=1)]


class Settings(Closed):
    quiet_s: Annotated[float, Field(ge=0)]
    tick_s: Positive
    bulk_window: Count
    keep_jobs_s: Positive
    concurrency: Count


class S3(Closed):
    get_ms: Positive
    put_ms: Positive
    keys_a_list: Count
    put_price: Annotated[float, Field(ge=0)]
    get_price: Annotated[float, Field(ge=0)]

    def round_s(self, requests: Requests) -> float:
        """One request after the other, of this mixture, takes so long on average; 0 where there are none."""
        gets, count = requests.get + requests.head, requests.get + requests.head + requests.put + requests.delete
        return (gets * self.get_ms + (count - gets) * self.put_ms) / count / 1_000 if count else 0.0


class Limits(Closed):
    utilisation: Share
    redis_utilisation: Share
    redis_gib: Positive
    redis_pause_s: Positive
    dispatcher_mb: Positive
    reindex_hours: Positive
    gc_hours: Positive
    plan_s: Positive


class Loads(Closed):
    documents: Annotated[list[Count], Field(min_length=1, max_length=8)]
    use: Use
    settings: Settings
    s3: S3
    limits: Limits


def load(path: Path = LOADS) -> Loads:
    """Raises OSError, TOMLDecodeError, ValidationError."""
    return Loads.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
