"""Secrets never pass through a model: neither as arguments nor inside a schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from catalog.lint.arguments import arguments
from catalog.lint.pointer import Pointer
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import endings, ends_with, word_set
from catalog.nodes import Json

ARGUMENT: Final = Rule(
    "TSL204",
    "credential-argument",
    "strict",
    Text(
        "引数「{name}」は、モデルに認証情報を渡させます。",
        "argument `{name}` has the model handle a credential.",
    ),
    Text(
        "引数から外し、認証情報はサーバー側に置いてください。"
        "必要なら、その名前や ID（secret_name、credential_id）を受け取ります。",
        "Remove it and keep credentials on the server. If there are several, take the name or id of one "
        "(secret_name, credential_id).",
    ),
)
VALUE: Final = Rule(
    "TSL205",
    "secret-in-definition",
    "strict",
    Text(
        "ツールの定義の中に、秘密の値（{kind}）のように見える文字列があります。",
        "the definition holds what looks like a secret ({kind}).",
    ),
    Text(
        "消して、その値を失効させてください。例には明らかに偽の値を使ってください。",
        "Remove it and revoke it. In examples, use a value that is plainly not one.",
    ),
)

RULES: Final = (ARGUMENT, VALUE)

_CREDENTIALS: Final = endings(
    "password, passwords, passwd, pwd, passphrase, passcode, secret, secrets, token, apikey, api key,"
    "access key, secret key, secretkey, private key, privatekey, signing key, encryption key, ssh key, auth key,"
    "credential, credentials, authorization, auth header, bearer, jwt, cookie, cookies, session key,"
    "connection string, dsn, otp, totp, mfa code, otp code, verification code, pin code, security code, cvv,"
    "cvc, パスワード, 暗証番号, 秘密鍵, 認証情報, トークン, api キー"
)
_NO_SECRETS: Final = word_set(
    "page next prev previous continuation continue pagination paging sync cursor resume start skip delta change "
    "idempotency idempotent confirmation confirm preview plan approval client request version max min stop search "
    "public device upload"
)
"""What comes before `token` where it is a mark of a place or of a request."""
_JAPANESE: Final = (
    "パスワード",
    "暗証番号",
    "秘密鍵",
    "認証トークン",
    "アクセストークン",
    "アクセスキー",
    "シークレット",
)
"""Parts of names: Japanese has no blanks to find words by."""

_SECRETS: Final = (
    ("OpenAI", re.compile(r"\bsk-(?:proj-|svcacct-)?[A-Za-z0-9_-]{20,200}")),
    ("Anthropic", re.compile(r"\bsk-ant-[A-Za-z0-9_-]{20,200}")),
    ("GitHub", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{30,100}|\bgithub_pat_[A-Za-z0-9_]{30,100}")),
    ("GitLab", re.compile(r"\bglpat-[A-Za-z0-9_-]{20,60}")),
    ("Slack", re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10,200}|hooks\.slack\.com/services/T[A-Za-z0-9/]{15,60}")),
    ("AWS", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("Google", re.compile(r"\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,200}")),
    ("Stripe", re.compile(r"\b[rs]k_live_[A-Za-z0-9]{16,120}")),
    ("npm", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("PyPI", re.compile(r"\bpypi-[A-Za-z0-9_-]{40,300}")),
    ("Hugging Face", re.compile(r"\bhf_[A-Za-z0-9]{30,60}")),
    ("SendGrid", re.compile(r"\bSG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,60}")),
    ("Linear", re.compile(r"\blin_(?:api|oauth)_[A-Za-z0-9]{30,80}")),
    ("Notion", re.compile(r"\b(?:secret|ntn)_[A-Za-z0-9]{40,60}")),
    ("private key", re.compile(r"-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----")),
    ("JWT", re.compile(r"\beyJ[A-Za-z0-9_-]{10,300}\.eyJ[A-Za-z0-9_-]{10,1000}\.[A-Za-z0-9_-]{10,100}")),
    ("bearer", re.compile(r"\b[Bb]earer [A-Za-z0-9._~+/-]{24,200}")),
    ("password in a URL", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/:@]{3,100}@[^\s/@]")),
)
_FAKE: Final = re.compile(
    r"example|sample|dummy|placeholder|your|xxx|\.\.\.|…|<|>|\*\*\*|1234567890|abcdef|changeme|user:pass", re.IGNORECASE
)
_WINDOW: Final = 20_000
"""Characters of one text that are looked at."""
_FIXED: Final = ("default", "const")


def check(tool: Tool) -> Iterator[Finding]:
    for argument in arguments(tool):
        if argument.takes_text and not argument.asks and _is_credential(argument.words, argument.name):
            yield Finding(ARGUMENT, argument.path, {"name": argument.name})
            yield from (
                Finding(VALUE, (*part.path, keyword), {"kind": argument.name})
                for part in argument.parts
                for keyword in _FIXED
                if _is_real(part.schema.get(keyword))
            )
    for path, text in _texts(tool.definition, tool.path):
        kind = _secret_in(text)
        if kind is not None:
            yield Finding(VALUE, path, {"kind": kind})


def _is_credential(name: tuple[str, ...], written: str) -> bool:
    if any(part in written for part in _JAPANESE):
        return True
    if not ends_with(name, _CREDENTIALS):
        return False
    return not (name[-1] in ("token", "トークン") and len(name) > 1 and name[-2] in _NO_SECRETS)


def _is_real(value: Json) -> bool:
    """Whether a given credential could be one that works."""
    return isinstance(value, str) and len(value) >= 6 and _FAKE.search(value[:_WINDOW]) is None


def _secret_in(text: str) -> str | None:
    if len(text) < 12:
        return None
    for kind, expression in _SECRETS:
        match = expression.search(text[:_WINDOW])
        if match is not None and _FAKE.search(match[0]) is None and len(set(match[0])) > 8:
            return kind
    return None


def _texts(value: Json, path: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Every string below `value`, which is nested no deeper than `catalog.nodes.MAX_DEPTH`."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for name, entry in value.items():
            yield from _texts(entry, (*path, name))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _texts(entry, (*path, index))
