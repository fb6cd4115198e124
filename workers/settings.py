"""What an installation is configured with: environment variables `AOP_*`, read once at start.

A process takes nothing else from its environment, so `aop config` shows all that there is. Secrets are `SecretStr`:
they print as stars wherever a setting is printed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import Field, PositiveInt, SecretStr, StringConstraints, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from rapidfuzz import fuzz, process

from pipeline.diagnostics.lang import Lang
from workers.settings_texts import problem

MIN_SECRET_CHARACTERS: Final = 16
SHORTEST_REFRESH_S: Final = 60
"""Each time starts a server's process, or connects to it."""
_CLOSE: Final = 85.0
"""Of 100: one or two letters of a name."""
_BUCKET: Final = re.compile(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/|$)")

Milliseconds = Annotated[int, Field(ge=0, le=86_400_000)]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Words = Annotated[tuple[str, ...], NoDecode]
"""Several values, separated by commas or blanks."""
Secrets = Annotated[tuple[SecretStr, ...], NoDecode]


class SettingsError(Exception):
    """Settings that no process can start with. `problems`: (variable, what is wrong and what to write), the latter as
    pydantic's words for a value or a key of `settings_texts`."""

    def __init__(self, problems: tuple[tuple[str, str], ...]) -> None:
        self.problems = problems
        super().__init__(self.text("en"))

    def text(self, lang: Lang) -> str:
        return "\n".join(f"{name}: {problem(what, lang)}" for name, what in self.problems)


class Settings(BaseSettings):
    """Times in the unit that the name ends with."""

    model_config = SettingsConfigDict(env_prefix="AOP_", extra="ignore", frozen=True, hide_input_in_errors=True)

    # ------------------------------------------------------------------------------------------ where things are
    redis_url: SecretStr = SecretStr("redis://127.0.0.1:6379/0")
    """redis://, rediss:// (TLS), unix://, or sentinel://HOST:PORT[,HOST:PORT…]/NAME[/DB]."""
    redis_prefix: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_.-]{1,64}$")] = "aop"
    redis_ca_file: Path | None = None
    sentinel_password: SecretStr | None = None

    store: str = "file:.aop/service"
    """file:FOLDER, or s3://BUCKET/PREFIX."""
    s3_endpoint: str | None = None
    s3_region: str | None = None
    s3_access_key: SecretStr | None = None
    s3_secret_key: SecretStr | None = None
    s3_path_style: bool = False
    s3_encryption: Literal["AES256", "aws:kms"] | None = None
    s3_kms_key: str | None = None
    s3_ca_file: Path | None = None

    catalog_folder: Path | None = None
    """The folder with the organisation's own catalog: aop-tools.yaml, imported lists, lock. None: what is shipped."""
    catalog_refresh_s: Annotated[int, Field(ge=0, le=7 * 86_400)] = 0
    """How often dispatchers list the imported MCP servers of the folder's mcp.json again. 0: never; else 60 or more."""

    # ------------------------------------------------------------------------------------------ saving and jobs
    quiet_ms: Milliseconds = 2_000
    longest_wait_ms: Milliseconds = 10_000
    patience_ms: Milliseconds = 60_000
    lease_ms: Annotated[int, Field(ge=1_000, le=3_600_000)] = 30_000
    message_lost_ms: Annotated[int, Field(ge=1_000, le=86_400_000)] = 60_000
    keep_jobs_s: Annotated[int, Field(ge=60, le=30 * 86_400)] = 86_400
    keep_idempotency_s: Annotated[int, Field(ge=60, le=30 * 86_400)] = 86_400
    most_attempts: Annotated[int, Field(ge=1, le=100)] = 5
    max_document_bytes: Annotated[int, Field(ge=1_024, le=64 * 1024 * 1024)] = 1024 * 1024
    reuse: Literal["exact", "compatible", "never"] = "compatible"

    # ------------------------------------------------------------------------------------------------- workers
    concurrency: Annotated[int, Field(ge=1, le=256)] = 1
    soft_time_limit_s: Seconds = 60.0
    time_limit_s: Seconds = 75.0
    visibility_timeout_s: Seconds = 300.0
    soft_shutdown_s: Seconds = 20.0
    max_memory_mb: Annotated[int, Field(ge=128, le=65_536)] = 1_024
    bulk_window: Annotated[int, Field(ge=1, le=10_000)] = 64
    tick_ms: Annotated[int, Field(ge=10, le=60_000)] = 200
    """How often a dispatcher looks."""

    # -------------------------------------------------------------------------------------------------- server
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8080
    public_url: str | None = None
    webhook_secrets: Secrets = ()
    """Of Standard Webhooks (whsec_…), several while one is replaced by another."""
    github_secrets: Secrets = ()
    github_token: SecretStr | None = None
    github_api: str = "https://api.github.com"
    github_repositories: Words = ()
    """OWNER/NAME."""
    github_paths: Words = ("**/*.md",)
    s3_buckets: Words = ()
    """Of which objects a webhook may name."""
    rate_per_minute: PositiveInt = 600
    rate_burst: PositiveInt = 100
    max_body_bytes: Annotated[int, Field(ge=1_024, le=256 * 1024 * 1024)] = 8 * 1024 * 1024

    # ---------------------------------------------------------------------------------------------- operations
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    log_format: Literal["json", "console"] = "json"
    probe_folder: Path | None = None
    metrics_folder: Path | None = None
    """Of prometheus-client's files, one folder a process group; emptied at start."""
    metrics_host: str = "127.0.0.1"
    metrics_port: Annotated[int, Field(ge=0, le=65_535)] | None = None
    """Where a worker, dispatcher or server shows what it counts; None: nowhere."""
    exporter_host: str = "127.0.0.1"
    exporter_port: Annotated[int, Field(ge=0, le=65_535)] = 9_100
    otlp_endpoint: str | None = None

    @field_validator(
        "webhook_secrets", "github_secrets", "github_repositories", "github_paths", "s3_buckets", mode="before"
    )
    @classmethod
    def _several(cls, value: object) -> object:
        return tuple(value.replace(",", " ").split()) if isinstance(value, str) else value

    @field_validator("webhook_secrets", "github_secrets")
    @classmethod
    def _long_enough(cls, value: tuple[SecretStr, ...]) -> tuple[SecretStr, ...]:
        if any(len(secret.get_secret_value()) < MIN_SECRET_CHARACTERS for secret in value):
            raise ValueError("secret-short")
        return value

    @field_validator("redis_url")
    @classmethod
    def _redis(cls, value: SecretStr) -> SecretStr:
        url = value.get_secret_value()
        scheme = url.partition("://")[0]
        if scheme in ("redis+cluster", "rediss+cluster", "cluster"):
            # Celery's transport does not know a cluster, and the ledger's scripts name their keys themselves.
            raise ValueError("redis-cluster")
        if scheme not in ("redis", "rediss", "unix", "sentinel"):
            raise ValueError("redis-scheme")
        if not _names_redis(url):
            raise ValueError("redis-url")
        return value

    @field_validator("catalog_refresh_s")
    @classmethod
    def _seldom_enough(cls, value: int) -> int:
        if 0 < value < SHORTEST_REFRESH_S:
            raise ValueError("refresh-often")
        return value

    @field_validator("store")
    @classmethod
    def _store(cls, value: str) -> str:
        scheme, found, place = value.partition(":")
        if scheme not in ("file", "s3") or not found or not place.strip("/"):
            raise ValueError("store-scheme")
        if scheme == "s3" and not _BUCKET.match(value):
            raise ValueError("store-scheme")
        return value

    @field_validator("github_api", "s3_endpoint", "public_url", "otlp_endpoint")
    @classmethod
    def _url(cls, value: str | None) -> str | None:
        if value is not None and not _is_web_address(value):
            raise ValueError("url")
        return value

    @model_validator(mode="after")
    def _times(self) -> Self:
        if self.longest_wait_ms < self.quiet_ms:
            raise ValueError("wait-below-quiet")
        if self.time_limit_s <= self.soft_time_limit_s:
            raise ValueError("limit-below-soft")
        if self.visibility_timeout_s < self.time_limit_s + 60:
            # Redis gives a message to a second worker after the visibility time, which is never renewed.
            raise ValueError("visibility-below-limit")
        if (self.s3_access_key is None) != (self.s3_secret_key is None):
            raise ValueError("half-a-key")
        if self.s3_kms_key is not None and self.s3_encryption != "aws:kms":
            raise ValueError("key-without-kms")
        return self


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _names_redis(url: str) -> bool:
    """Whether the URL, of a known scheme, says where Redis is."""
    scheme, _, rest = url.partition("://")
    try:
        if scheme == "unix":
            return urlsplit(url).path not in ("", "/")
        if scheme == "sentinel":
            hosts, _, path = rest.rpartition("@")[2].partition("/")
            name, _, database = path.partition("/")
            parts = [urlsplit(f"//{host}") for host in hosts.split(",")]
            named = all(part.hostname and part.port != 0 for part in parts)
            return named and bool(name) and (database or "0").isdecimal()
        parts = [urlsplit(url)]
        return bool(parts[0].hostname) and parts[0].port != 0 and (parts[0].path.strip("/") or "0").isdecimal()
    except ValueError:
        return False


_OF_SEVERAL: Final = {
    "wait-below-quiet": "AOP_LONGEST_WAIT_MS",
    "limit-below-soft": "AOP_TIME_LIMIT_S",
    "visibility-below-limit": "AOP_VISIBILITY_TIMEOUT_S",
    "half-a-key": "AOP_S3_ACCESS_KEY",
    "key-without-kms": "AOP_S3_KMS_KEY",
}
"""The variable that is named where several together are at fault."""


def load() -> Settings:
    """From the environment. Raises SettingsError."""
    try:
        return Settings()
    except ValidationError as error:
        raise SettingsError(tuple(_problem(details["loc"], details["msg"]) for details in error.errors())) from None


def slips(names: Iterable[str]) -> dict[str, str]:
    """Variables that look like a setting of ours and are none, with the one that was probably meant."""
    known = [f"AOP_{name.upper()}" for name in Settings.model_fields]
    found: dict[str, str] = {}
    for name in sorted(names):
        if name.startswith("AOP_") and name not in known:
            close = process.extractOne(name, known, scorer=fuzz.ratio, score_cutoff=_CLOSE)
            if close is not None:
                found[name] = close[0]
    return found


def _problem(place: tuple[int | str, ...], message: str) -> tuple[str, str]:
    what = message.removeprefix("Value error, ")
    return (f"AOP_{str(place[0]).upper()}" if place else _OF_SEVERAL.get(what, "AOP_*"), what)
