"""What time it is, in ms since 1970: by this machine's clock, which may be off, or by Redis's, which all share."""

from __future__ import annotations

import time

from redis import Redis


def now_ms() -> int:
    """For records that people read, and for ages of hours and days: nothing depends on an exact order."""
    return time.time_ns() // 1_000_000


def shared_now_ms(redis: Redis) -> int:
    """By which the ledger's own times are. Raises RedisError."""
    seconds, microseconds = redis.time()
    return seconds * 1_000 + microseconds // 1_000
