"""Given an environment, when a process reads it, then it has its settings or says what is wrong with each variable."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.main import main
from workers import settings_texts
from workers.settings import Settings, SettingsError, load, slips

SECRET = "hunter2-" * 3

FAULTS: dict[str, tuple[str, Mapping[str, str]]] = {
    "secret-short": ("AOP_WEBHOOK_SECRETS", {"AOP_WEBHOOK_SECRETS": f"whsec_{SECRET},short"}),
    "redis-cluster": ("AOP_REDIS_URL", {"AOP_REDIS_URL": f"redis+cluster://:{SECRET}@a:6379"}),
    "redis-scheme": ("AOP_REDIS_URL", {"AOP_REDIS_URL": f"amqp://guest:{SECRET}@a"}),
    "redis-url": ("AOP_REDIS_URL", {"AOP_REDIS_URL": f"redis://:{SECRET}@a:port/0"}),
    "store-scheme": ("AOP_STORE", {"AOP_STORE": "gs://bucket/prefix"}),
    "url": ("AOP_OTLP_ENDPOINT", {"AOP_OTLP_ENDPOINT": f"ftp://me:{SECRET}@collector"}),
    "refresh-often": ("AOP_CATALOG_REFRESH_S", {"AOP_CATALOG_REFRESH_S": "59"}),
    "wait-below-quiet": ("AOP_LONGEST_WAIT_MS", {"AOP_QUIET_MS": "3000", "AOP_LONGEST_WAIT_MS": "2000"}),
    "limit-below-soft": ("AOP_TIME_LIMIT_S", {"AOP_SOFT_TIME_LIMIT_S": "75"}),
    "visibility-below-limit": ("AOP_VISIBILITY_TIMEOUT_S", {"AOP_VISIBILITY_TIMEOUT_S": "134"}),
    "half-a-key": ("AOP_S3_ACCESS_KEY", {"AOP_S3_SECRET_KEY": SECRET}),
    "key-without-kms": ("AOP_S3_KMS_KEY", {"AOP_S3_KMS_KEY": SECRET, "AOP_S3_ENCRYPTION": "AES256"}),
}


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """With no settings but those of the test."""
    for name in list(os.environ):
        if name.startswith("AOP_"):
            monkeypatch.delenv(name)
    return monkeypatch


def fault(environment: pytest.MonkeyPatch, values: Mapping[str, str]) -> SettingsError:
    for name, value in values.items():
        environment.setenv(name, value)
    with pytest.raises(SettingsError) as caught:
        load()
    return caught.value


def test_every_sentence_has_an_environment_that_leads_to_it() -> None:
    """A sentence that nothing says would be one that nobody has read."""
    assert set(FAULTS) == set(settings_texts._TEXTS)


@pytest.mark.parametrize("key", FAULTS)
def test_a_fault_is_a_sentence_about_its_variable(key: str, environment: pytest.MonkeyPatch) -> None:
    """In both languages, which differ, and without the value: it may be a secret."""
    variable, values = FAULTS[key]
    error = fault(environment, values)
    assert error.problems == ((variable, key),)
    japanese, english = settings_texts._TEXTS[key]
    assert error.text("ja") == f"{variable}: {japanese}"
    assert error.text("en") == str(error) == f"{variable}: {english}"
    assert SECRET not in error.text("ja") + error.text("en") + repr(error)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("AOP_PORT", "http"),
        ("AOP_PORT", "65536"),
        ("AOP_QUIET_MS", "-1"),
        ("AOP_TICK_MS", "nan"),
        ("AOP_SOFT_TIME_LIMIT_S", "inf"),
        ("AOP_REUSE", "sometimes"),
        ("AOP_LOG_LEVEL", "loud"),
        ("AOP_REDIS_PREFIX", "a b"),
        ("AOP_REDIS_PREFIX", ""),
        ("AOP_S3_PATH_STYLE", "perhaps"),
        ("AOP_MAX_MEMORY_MB", "9e99"),
    ],
)
def test_a_value_that_is_none_is_told_with_its_variable(
    variable: str, value: str, environment: pytest.MonkeyPatch
) -> None:
    """pydantic's words in English, within a Japanese sentence."""
    error = fault(environment, {variable: value})
    assert [name for name, _ in error.problems] == [variable]
    assert error.text("ja").startswith(f"{variable}: 値を直してください（")


def test_all_that_is_wrong_is_told_at_once(environment: pytest.MonkeyPatch) -> None:
    """Nobody has to start a process once for each mistake."""
    error = fault(environment, {"AOP_PORT": "x", "AOP_STORE": "x", "AOP_REDIS_URL": "x"})
    assert {name for name, _ in error.problems} == {"AOP_PORT", "AOP_STORE", "AOP_REDIS_URL"}
    assert len(error.text("en").splitlines()) == 3


@pytest.mark.parametrize(
    "url",
    [
        "redis://",
        "redis:///0",
        "redis://host:70000",
        "redis://host/first",
        "redis://[::1",
        "rediss://:secret@",
        "unix://",
        "sentinel://a:26379",
        "sentinel://a:26379/",
        "sentinel://a:x/main",
        "sentinel://a,,b/main",
        "sentinel://a/main/zero",
    ],
)
def test_a_url_that_names_no_redis_is_refused(url: str, environment: pytest.MonkeyPatch) -> None:
    """At the start, not by whoever connects first."""
    assert fault(environment, {"AOP_REDIS_URL": url}).problems == (("AOP_REDIS_URL", "redis-url"),)


@pytest.mark.parametrize(
    "url",
    [
        "redis://localhost",
        "redis://:p%40ss@10.0.0.1:6380/3",
        "rediss://user:pass@redis.example/0",
        "redis://[::1]:6379/0",
        "unix:///run/redis.sock?db=1",
        "sentinel://:pass@a:26379,b,[::1]:26380/main/2",
    ],
)
def test_the_forms_of_a_redis_url(url: str, environment: pytest.MonkeyPatch) -> None:
    """Those that docs/operations.md lists."""
    environment.setenv("AOP_REDIS_URL", url)
    assert load().redis_url.get_secret_value() == url


@pytest.mark.parametrize("store", ["s3:bucket", "s3:///prefix", "s3://B/x", "s3://a_b", "file:", "file:/", "/srv"])
def test_a_store_that_is_none_is_refused(store: str, environment: pytest.MonkeyPatch) -> None:
    """A bucket's name has the form that S3 wants."""
    assert fault(environment, {"AOP_STORE": store}).problems == (("AOP_STORE", "store-scheme"),)


@pytest.mark.parametrize("url", ["https://", "http://:80", "collector:4318", "https://[::1", "http://a:99999"])
def test_an_address_that_is_none_is_refused(url: str, environment: pytest.MonkeyPatch) -> None:
    """Also one that only begins like one."""
    assert fault(environment, {"AOP_S3_ENDPOINT": url}).problems == (("AOP_S3_ENDPOINT", "url"),)


def test_several_values_are_separated_by_commas_or_blanks(environment: pytest.MonkeyPatch) -> None:
    """As they come from a file, a chart or a shell."""
    environment.setenv("AOP_GITHUB_REPOSITORIES", "a/b, c/d\te/f,,")
    environment.setenv("AOP_S3_BUCKETS", "")
    settings = load()
    assert settings.github_repositories == ("a/b", "c/d", "e/f")
    assert settings.s3_buckets == ()


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=80))
def test_no_redis_url_makes_the_check_fail_itself(url: str) -> None:
    """Whatever it is: settings, or a sentence that does not show it."""
    before = os.environ.get("AOP_REDIS_URL")
    os.environ["AOP_REDIS_URL"] = url
    try:
        load()
    except SettingsError as error:
        assert {name for name, _ in error.problems} == {"AOP_REDIS_URL"}
    finally:
        os.environ.pop("AOP_REDIS_URL")
        if before is not None:
            os.environ["AOP_REDIS_URL"] = before


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("AOP_REDIS_URI", "AOP_REDIS_URL"),
        ("AOP_WEBHOOK_SECRET", "AOP_WEBHOOK_SECRETS"),
        ("AOP_LOGLEVEL", "AOP_LOG_LEVEL"),
    ],
)
@pytest.mark.parametrize("lang", ["ja", "en"])
def test_a_slip_is_told(
    name: str, meant: str, lang: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without its value: else a process would silently run with a default."""
    environment.setenv(name, SECRET)
    environment.setenv("AOP_LANG", lang)
    assert main(["config"]) == 0
    told = capsys.readouterr().err
    assert name in told
    assert meant in told
    assert SECRET not in told


def test_the_variables_of_other_commands_are_no_slips() -> None:
    """Nor is every setting itself, nor what is far from all of them."""
    others = ("AOP_LANG", "AOP_CATALOG_ORG", "AOP_URL", "AOP_TOKEN", "AOP_MODEL", "AOP_SOMETHING", "PATH", "REDIS_URL")
    assert slips((*others, *(f"AOP_{name.upper()}" for name in Settings.model_fields))) == {}


# --------------------------------------------------------------------------------------------------- aop config


SECRETS = {
    "AOP_REDIS_URL": f"redis://user:{SECRET}@redis.example:6380/2?password={SECRET}",
    "AOP_SENTINEL_PASSWORD": SECRET,
    "AOP_S3_ACCESS_KEY": SECRET,
    "AOP_S3_SECRET_KEY": SECRET,
    "AOP_WEBHOOK_SECRETS": f"{SECRET}-1 {SECRET}-2",
    "AOP_GITHUB_SECRETS": SECRET,
    "AOP_GITHUB_TOKEN": SECRET,
    "AOP_OTLP_ENDPOINT": f"https://me:{SECRET}@collector.example/v1/traces",
    "AOP_S3_ENDPOINT": f"https://{SECRET}@s3.example",
}


@pytest.mark.parametrize("form", ["text", "json"])
def test_config_shows_every_setting_and_no_secret(
    form: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With stars in the place of secrets, and what is no secret about a URL."""
    for name, value in SECRETS.items():
        environment.setenv(name, value)
    assert main(["config", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert SECRET not in shown
    assert all(f"AOP_{name.upper()}" in shown for name in Settings.model_fields)
    assert "redis://***@redis.example:6380/2?***" in shown
    assert "https://***@collector.example/v1/traces" in shown


def test_config_tells_what_was_set(environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A star before it; the others have their defaults."""
    environment.setenv("AOP_PORT", "9000")
    assert main(["config"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:] for line in lines if line.startswith("*")] == [["AOP_PORT", "9000"]]
    assert len(lines) == len(Settings.model_fields)


def test_config_as_json_has_the_types_of_the_settings(
    environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """For programs: numbers are numbers, what is not set is null, several values a list."""
    environment.setenv("AOP_GITHUB_SECRETS", f"{SECRET} {SECRET}")
    assert main(["config", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["AOP_PORT"] == 8080
    assert found["AOP_METRICS_PORT"] is None
    assert found["AOP_S3_PATH_STYLE"] is False
    assert found["AOP_GITHUB_SECRETS"] == ["***", "***"]


@pytest.mark.parametrize("lang", ["ja", "en"])
@pytest.mark.parametrize("command", [["config"], ["server"], ["dispatcher"], ["exporter"], ["worker", "parse"]])
def test_every_process_refuses_wrong_settings_in_the_users_language(
    command: list[str], lang: str, environment: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Exit status 2, one line on standard error, no traceback."""
    environment.setenv("AOP_LANG", lang)
    environment.setenv("AOP_STORE", "nowhere")
    assert main(command) == 2
    sentence = settings_texts._TEXTS["store-scheme"][lang == "en"]
    assert f"AOP_STORE: {sentence}" in capsys.readouterr().err
