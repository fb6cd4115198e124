"""`aop admin preflight`: what an installation lacks is named, and nothing is changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import SecretStr
from redis import Redis

from cli.commands.admin_preflight import run
from workers.archive import Archive
from workers.connections import open_ledger, open_redis, open_store
from workers.intake import Intake, open_installation
from workers.local.seaweedfs import SeaweedFS
from workers.local.valkey import Valkey
from workers.preflight import Check, preflight
from workers.preflight_texts import _TEXTS
from workers.settings import Settings


def _keys(checks: list[Check], state: str) -> set[str]:
    return {check.key for check in checks if check.state == state}


def _changed(settings: Settings, **fields: object) -> Settings:
    return settings.model_copy(update=fields)


def _save(settings: Settings) -> None:
    redis = open_redis(settings)
    with open_store(settings) as store:
        ledger, archive = open_ledger(settings, redis), Archive(store)
        open_installation(ledger, archive)
        Intake(ledger, archive).accept("a.md", data="# 手順\n".encode(), source="test")
    redis.close()


def test_a_new_installation(service_settings: Settings) -> None:
    """All is well before the first save; what this Redis of the tests lacks is a warning."""
    found = list(preflight(service_settings))
    assert _keys(found, "problem") == set()
    assert _keys(found, "warning") == {"redis-unbounded", "redis-forgets"}
    assert _keys(found, "ok") == {"settings", "redis", "redis-writes", "clock", "store", "ledger-new", "catalog"}


def test_a_running_installation(service_settings: Settings, tmp_path: Path) -> None:
    """With a ledger, an append-only file and a limit there is nothing to say."""
    with Valkey(tmp_path / "valkey", bound=True) as valkey:
        settings = _changed(service_settings, redis_url=SecretStr(valkey.url))
        redis = open_redis(settings)
        redis.config_set("maxmemory", "64mb")
        redis.config_set("maxmemory-policy", "noeviction")
        _save(settings)
        found = list(preflight(settings))
        redis.close()
    assert _keys(found, "ok") == {check.key for check in found}
    assert {"ledger", "redis-memory", "redis-lasting"} <= _keys(found, "ok")


def test_nothing_is_changed(service_settings: Settings) -> None:
    """Keys of Redis and names in the store are the same afterwards."""
    _save(service_settings)
    redis = open_redis(service_settings)

    def everything() -> tuple[set[str], set[str]]:
        with open_store(service_settings) as store:
            return set(redis.keys(f"{service_settings.redis_prefix}:*")), set(store.pointer_names(""))

    before = everything()
    assert _keys(list(preflight(service_settings)), "problem") == set()
    assert everything() == before
    redis.close()


def test_a_redis_that_throws_away(service_settings: Settings, tmp_path: Path) -> None:
    """A policy that evicts is a problem: an evicted key is a lost job."""
    with Valkey(tmp_path / "valkey", bound=True) as valkey:
        settings = _changed(service_settings, redis_url=SecretStr(valkey.url))
        redis = open_redis(settings)
        redis.config_set("maxmemory", "64mb")
        redis.config_set("maxmemory-policy", "allkeys-lru")
        found = list(preflight(settings))
        redis.close()
    assert _keys(found, "problem") == {"redis-evicts"}


def test_rights_that_are_too_few(service_settings: Settings, redis: Redis) -> None:
    """An ACL that lets us read alone is a problem that names the ACL."""
    redis.execute_command("ACL", "SETUSER", "reader", "on", ">word", "~*", "+@read", "+@connection", "+info", "+time")
    host, port = redis.connection_pool.connection_kwargs["host"], redis.connection_pool.connection_kwargs["port"]
    settings = _changed(service_settings, redis_url=SecretStr(f"redis://reader:word@{host}:{port}/0"))
    found = list(preflight(settings))
    redis.execute_command("ACL", "DELUSER", "reader")
    assert _keys(found, "problem") == {"redis-rights"}
    assert all("word@" not in text for check in found for text in check.texts.values())


def test_a_redis_that_does_not_answer(service_settings: Settings) -> None:
    """It is named, the ledger is not looked at, and everything else still is."""
    settings = _changed(service_settings, redis_url=SecretStr("redis://:secret-word@127.0.0.1:1/0"))
    found = list(preflight(settings))
    assert _keys(found, "problem") == {"redis-unreachable", "skipped"}
    assert {"store", "catalog"} <= _keys(found, "ok")
    assert all("secret-word" not in text for check in found for text in check.texts.values())


def test_a_store_that_cannot_be_written(service_settings: Settings, tmp_path: Path) -> None:
    """In the store's own words; the ledger, which the store decides about, is not looked at."""
    (tmp_path / "file").write_text("in the way")
    found = list(preflight(_changed(service_settings, store=f"file:{tmp_path / 'file' / 'store'}")))
    assert _keys(found, "problem") == {"store-fails", "skipped"}


def test_a_store_in_s3(service_settings: Settings, tmp_path: Path) -> None:
    """Conditions are tried on the real server, and nothing stays behind; a bucket that is not there is named."""
    with SeaweedFS(tmp_path / "s3", bound=True) as weed:
        settings = _changed(
            service_settings,
            store="s3://preflight/aop",
            s3_endpoint=weed.endpoint,
            s3_region="us-east-1",
            s3_access_key=SecretStr(weed.access_key),
            s3_secret_key=SecretStr(weed.secret_key),
            s3_path_style=True,
        )
        missing = list(preflight(settings))
        assert _keys(missing, "problem") == {"store-fails", "skipped"}
        weed.make_bucket("preflight")
        found = list(preflight(settings))
        assert _keys(found, "problem") == set()
        assert "store" in _keys(found, "ok")
        with open_store(settings) as store:
            assert list(store.pointer_names("")) == []
        assert all(weed.secret_key not in text for check in (*missing, *found) for text in check.texts.values())


def test_a_lost_ledger(service_settings: Settings) -> None:
    """The store has saves and Redis nothing: reindex is what helps."""
    _save(service_settings)
    redis = open_redis(service_settings)
    redis.delete(*redis.keys(f"{service_settings.redis_prefix}:*"))
    redis.close()
    found = list(preflight(service_settings))
    assert _keys(found, "problem") == {"ledger-lost"}
    assert all(
        "aop admin reindex" in check.texts[lang]
        for check in found
        if check.key == "ledger-lost"
        for lang in ("ja", "en")
    )


def test_a_ledger_of_another_version(service_settings: Settings) -> None:
    """It says so, and what to do."""
    _save(service_settings)
    redis = open_redis(service_settings)
    redis.hset(f"{service_settings.redis_prefix}:meta", "schema", "999")
    redis.close()
    (problem,) = [check for check in preflight(service_settings) if check.state == "problem"]
    assert problem.key == "ledger-version"
    assert "999" in problem.texts["en"]


def test_a_wrong_catalog(service_settings: Settings, tmp_path: Path) -> None:
    """The file and the line are named."""
    (tmp_path / "aop-catalog.yaml").write_text("tools: 3\n", encoding="utf-8")
    found = list(preflight(_changed(service_settings, catalog_folder=tmp_path)))
    (problem,) = [check for check in found if check.state == "problem"]
    assert problem.key == "catalog-wrong"
    assert "aop-catalog.yaml" in problem.texts["ja"]


def test_every_sentence_exists_in_both_languages() -> None:
    """And both take the same arguments."""
    for japanese, english in _TEXTS.values():
        assert {part.split("}")[0] for part in japanese.split("{")[1:]} == {
            part.split("}")[0] for part in english.split("{")[1:]
        }


@pytest.mark.parametrize("as_json", [False, True])
def test_the_command(
    service_settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    as_json: bool,
) -> None:
    """One line a check, or JSON; status 2 for a problem, 0 for warnings."""
    for name, value in (
        ("AOP_REDIS_URL", service_settings.redis_url.get_secret_value()),
        ("AOP_REDIS_PREFIX", service_settings.redis_prefix),
        ("AOP_STORE", service_settings.store),
    ):
        monkeypatch.setenv(name, value)

    def told() -> list[tuple[str, str]]:
        said = capsys.readouterr().out
        if as_json:
            return [(check["state"], check["subject"]) for check in json.loads(said)]
        return [(line.split()[0], line.split()[1].rstrip(":")) for line in said.splitlines()]

    assert run("en", as_json=as_json) == 0
    assert ("warning", "redis") in told()
    monkeypatch.setenv("AOP_REDIS_URL", "redis://127.0.0.1:1/0")
    assert run("en", as_json=as_json) == 2
    assert ("problem", "redis") in told()
