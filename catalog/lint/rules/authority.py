"""Who is asking and what they may do is the server's to know, not the model's to say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.arguments import Argument, arguments
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import endings, ends_with, word_set

FLAG: Final = Rule(
    "TSL202",
    "authority-flag",
    "strict",
    Text(
        "引数「{name}」で、呼び出し元が権限や承認を自分で宣言できます。",
        "argument `{name}` lets the caller declare its own authority or approval.",
    ),
    Text(
        "引数から外し、権限と承認は実行環境で確かめてください。"
        "人の承認を渡すなら、サーバーが発行した確認の印（confirmation_token）にします。",
        "Remove it, and let the server check rights and approvals. "
        "A person's approval travels as a token that the server issued (confirmation_token).",
    ),
)
IDENTITY: Final = Rule(
    "TSL203",
    "identity-from-caller",
    "strict",
    Text(
        "引数「{name}」で、呼び出し元が実行者やテナントを選べます。",
        "argument `{name}` lets the caller choose who acts, or for which tenant.",
    ),
    Text(
        "引数から外し、認証された接続からサーバー側で決めてください。",
        "Remove it; the server knows it from the authenticated connection.",
    ),
)

RULES: Final = (FLAG, IDENTITY)

_RIGHTS: Final = word_set(
    "admin administrator superuser sudo root privileged elevated trusted authorized authorised unrestricted "
    "unsafe insecure"
)
_APPROVALS: Final = word_set("confirm confirmed confirmation approve approved approval consent consented acknowledged")
_AROUND: Final = word_set("skip bypass ignore disable suppress no without")
_GUARDS: Final = word_set(
    "auth authentication authorization authorisation permission permissions check checks confirmation confirm "
    "approval validation verification review safety security policy guardrails sandbox prompt hooks verify ssl "
    "tls limit limits quota"
)
_FORCING: Final = word_set("force forced override overridden sudo")
_FOREIGN: Final = ("管理者", "承認済み", "確認済み", "強制")

_IDENTITIES: Final = endings(
    "actor, actor id, caller, caller id, tenant, tenant id, tenantid, acting user, acting user id, current user,"
    "current user id, on behalf of, run as, act as, impersonate, impersonate user, impersonated user,"
    "my user id, caller role, user claims, claims"
)


def check(tool: Tool) -> Iterator[Finding]:
    for argument in arguments(tool):
        if _is_switch(argument) and _is_authority(argument.words, argument.name):
            yield Finding(FLAG, argument.path, {"name": argument.name})
        elif argument.top and not argument.is_choice and ends_with(argument.words, _IDENTITIES):
            yield Finding(IDENTITY, argument.path, {"name": argument.name})


def _is_switch(argument: Argument) -> bool:
    """Something that says yes or no: a truth value, or words or numbers for one."""
    if argument.choices and argument.is_choice:
        return {str(choice).lower() for choice in argument.choices} <= {
            "true",
            "false",
            "yes",
            "no",
            "1",
            "0",
            "on",
            "off",
        }
    return not argument.types or "boolean" in argument.types


def _is_authority(name: tuple[str, ...], written: str) -> bool:
    if any(word in written for word in _FOREIGN):
        return True
    found = set(name)
    if name[:1] == ("require",) or name[:1] == ("requires",) or "required" in found:
        return False  # asks for more care, not for less
    if found & _RIGHTS and name[0] not in ("list", "include", "show", "only"):
        return True
    if found & _FORCING:
        return True
    if found & _AROUND and found & _GUARDS:
        return True
    return bool(found & _APPROVALS) and (len(name) <= 2 or name[-1] in _APPROVALS)
