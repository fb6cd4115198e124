"""Whether a webhook was signed by somebody who has one of the secrets. All secrets are tried, whichever fits, and
signatures are compared in constant time; nothing tells which part of one was wrong."""

from __future__ import annotations

import hashlib
import hmac
import math
import time
from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import SecretStr
from standardwebhooks.webhooks import EmptyWebhookSecretError, Webhook, WebhookVerificationError

from server.errors import ApiError

TOLERANCE_S: Final = 300
MAX_ID: Final = 256
_GITHUB_PREFIX: Final = "sha256="


def signed_by_standard(secrets: Sequence[SecretStr], headers: Mapping[str, str], body: bytes) -> str:
    """The id of the message, which is signed with it. Raises ApiError 401."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    for name in names:
        if not headers.get(name):
            raise _refused("signature-missing", header=name)
    identity = headers["webhook-id"]
    if len(identity) > MAX_ID or not identity.isprintable():
        raise _refused("signature-missing", header="webhook-id")
    if not _recent(headers["webhook-timestamp"]):
        raise _refused("timestamp-stale")
    signed = {name: headers[name] for name in names}
    fits = [_verifies(secret, signed, body) for secret in secrets]
    if not any(fits):
        raise _refused("signature-wrong", setting="WEBHOOK_SECRETS")
    return identity


def _verifies(secret: SecretStr, headers: dict[str, str], body: bytes) -> bool:
    try:
        Webhook(secret.get_secret_value()).verify(body, headers, json_parse=False)
    except (WebhookVerificationError, EmptyWebhookSecretError, ValueError):
        return False  # ValueError: a signature that is no base64, a body that is no text
    return True


def _recent(timestamp: str) -> bool:
    try:
        sent = float(timestamp)
    except ValueError:
        return False
    return math.isfinite(sent) and abs(time.time() - sent) <= TOLERANCE_S


def signed_by_github(secrets: Sequence[SecretStr], header: str | None, body: bytes) -> None:
    """Raises ApiError 401."""
    if not header:
        raise _refused("signature-missing", header="X-Hub-Signature-256")
    given = header.removeprefix(_GITHUB_PREFIX).encode("utf-8", "surrogateescape")
    wanted = [hmac.new(secret.get_secret_value().encode(), body, hashlib.sha256).hexdigest() for secret in secrets]
    fits = [hmac.compare_digest(digest.encode(), given) for digest in wanted]
    if not any(fits) or not header.startswith(_GITHUB_PREFIX):
        raise _refused("signature-wrong", setting="GITHUB_SECRETS")


def require_secrets(secrets: Sequence[SecretStr], setting: str) -> None:
    """Raises ApiError 403: without a secret nobody can be believed."""
    if not secrets:
        raise ApiError("forbidden", "hook-off", details={"setting": f"AOP_{setting}"}, setting=setting)


def _refused(key: str, *, header: str = "", setting: str = "") -> ApiError:
    return ApiError("unauthorized", key, details={"reason": key}, header=header, setting=setting)
