"""Given messages that a worker took before it died, when another looks for them, then their queues have them again."""

from __future__ import annotations

import pytest

from workers.app import make_app
from workers.connections import open_redis
from workers.ledger.ledger import new_id
from workers.ledger.records import Message
from workers.queues import key_prefix, queue_key
from workers.settings import Settings

from ..celery_messages import send


@pytest.mark.parametrize(
    "kept", [b"garbage", b"\xff", b"[]", b"null", b"[" * 5_000, b'[{"body": 1}, "", ""]', b'[1, "", ""]']
)
def test_what_was_kept_as_taken_and_is_no_message_goes(kept: bytes, service_settings: Settings) -> None:
    """Whoever looks for messages that a dead worker had taken comes to those behind it."""
    settings = service_settings
    with open_redis(settings) as redis:
        prefix = key_prefix(settings.redis_prefix)
        app = make_app(settings)
        send(app, Message(new_id(), "parse", "interactive"))
        with app.connection() as connection:
            channel = connection.default_channel
            taken = channel.basic_get("parse.interactive", no_ack=False)
            assert taken is not None
            redis.hset(f"{prefix}unacked", "t", kept)
            redis.zadd(f"{prefix}unacked_index", {taken.delivery_tag: 1, "t": 2})
            channel.qos.restore_visible(interval=1)
            assert redis.llen(queue_key(settings.redis_prefix, "parse.interactive")) == 1
        assert redis.exists(f"{prefix}unacked", f"{prefix}unacked_index") == 0
