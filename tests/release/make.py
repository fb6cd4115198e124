"""Makes the data of a release: `python -m tests.release.make VERSION`, once, from that version, before it is released.

A small installation works in a Valkey and a file store of its own: documents that were published, failed, retired,
that call each other, and one whose save nobody has compiled yet. What it leaves is kept under
tests/data/release-VERSION and is never changed afterwards: every later version must read it (test_releases.py).
"""

from __future__ import annotations

import json
import lzma
import shutil
import sqlite3
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

from redis import Redis

from tests.service.workers.documents import FAILING, MULTI, calling, compiled
from tests.service.workers.installation import Installation
from workers.local.valkey import Valkey
from workers.tokens import Tokens

ROOT: Final = Path(__file__).parents[2]
PREFIX: Final = "aop"
DOCUMENTS: Final = {
    "multi.md": MULTI,
    "failing.md": FAILING,
    "手順/呼ぶ側.md": calling("呼ぶ側", "呼ばれる側"),
    "手順/呼ばれる側.md": MULTI.replace("月次の締め", "呼ばれる側"),
}
WAITING: Final = "waiting.md"
RETIRED: Final = "retired.md"


def folder_of(version: str) -> Path:
    return ROOT / "tests" / "data" / f"release-{version}"


def dump(redis: Redis) -> dict[str, dict[str, Any]]:
    """Every key: its type, its value as JSON can hold it."""
    found: dict[str, dict[str, Any]] = {}
    for key in sorted(redis.keys("*")):
        kind = str(redis.type(key))
        match kind:
            case "string":
                value: Any = redis.get(key)
            case "hash":
                value = dict(sorted(redis.hgetall(key).items()))
            case "list":
                value = redis.lrange(key, 0, -1)
            case "set":
                value = sorted(redis.smembers(key))
            case "zset":
                value = redis.zrange(key, 0, -1, withscores=True)
            case "stream":
                value = redis.xrange(key)
            case _:
                raise ValueError(f"{key} is a {kind}")
        found[key] = {"type": kind, "value": value}
    return found


def load(redis: Redis, dumped: dict[str, dict[str, Any]]) -> None:
    """What `dump` gave, into an empty Redis."""
    for key, entry in dumped.items():
        value = entry["value"]
        match entry["type"]:
            case "string":
                redis.set(key, value)
            case "hash":
                redis.hset(key, mapping=value)
            case "list":
                redis.rpush(key, *value)
            case "set":
                redis.sadd(key, *value)
            case "zset":
                redis.zadd(key, dict(value))
            case "stream":
                for identity, fields in value:
                    redis.xadd(key, fields, id=identity)


def main(arguments: list[str]) -> int:
    (version,) = arguments
    target = folder_of(version)
    if target.exists():
        sys.stderr.write(f"{target} exists: the data of a release is never changed\n")
        return 1
    with tempfile.TemporaryDirectory() as name, Valkey(Path(name) / "valkey", bound=True) as valkey:
        folder = Path(name)
        (folder / "catalog").mkdir()
        environment = {
            "AOP_REDIS_URL": valkey.url,
            "AOP_REDIS_PREFIX": PREFIX,
            "AOP_STORE": f"file:{folder / 'store'}",
            "AOP_CATALOG_FOLDER": str(folder / "catalog"),
        }
        found = Installation(environment, folder)
        Tokens(found.context.store, found.redis, PREFIX).create(name="release", scopes=["documents:read"])
        found.start()
        try:
            saves = {**DOCUMENTS, RETIRED: MULTI}
            for accepted in [found.save(document, text) for document, text in saves.items()]:
                found.outcome(accepted)
            found.outcome(found.save("multi.md", MULTI + "\n最後に片付ける。\n", revision="2"))
            found.outcome(found.retire(RETIRED))
        finally:
            found.stop()
        found = Installation(environment, folder)
        found.save(WAITING, MULTI.replace("月次の締め", "待つ"))
        target.mkdir(parents=True)
        (target / "ledger.json").write_text(
            json.dumps(dump(found.redis), ensure_ascii=False, indent=1, sort_keys=True), encoding="utf-8"
        )
        found.stop()
        _keep_store(folder / "store", target)
        artifacts = folder / "artifacts"
        artifacts.mkdir()
        compiled(artifacts, DOCUMENTS)
        shutil.copytree(artifacts / "build", target / "artifacts")
        for document, text in DOCUMENTS.items():
            path = target / "documents" / document
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return 0


def _keep_store(store: Path, target: Path) -> None:
    (database,) = store.glob("*.db")
    connection = sqlite3.connect(database)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("PRAGMA journal_mode=DELETE")
    connection.execute("VACUUM")
    connection.close()
    (target / f"{database.name}.xz").write_bytes(lzma.compress(database.read_bytes(), preset=9))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
