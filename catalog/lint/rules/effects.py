"""What changes something says so, can be repeated safely, and is confirmed where it matters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from catalog.lint.arguments import arguments
from catalog.lint.effects import dangerous_verb, declared_to_write, writes, writing_verb
from catalog.lint.rule import Finding, Rule, Text
from catalog.lint.tools import Tool
from catalog.lint.words import Endings, endings, ends_with

UNGUARDED: Final = Rule(
    "TSL213",
    "write-unguarded",
    "strict",
    Text(
        "変更するツール「{tool}」に、確認も冪等性の手立てもありません。",
        "tool `{tool}` changes something, with neither a confirmation nor a way to repeat it safely.",
    ),
    Text(
        "引数に idempotency_key（または更新前の版 expected_version）を加えるか、"
        "何度呼んでも同じなら annotations.idempotentHint を true にするか、"
        "カタログなら confirm: always か idempotency_argument を書いてください。"
        "読むだけのツールなら annotations.readOnlyHint を true に（カタログでは effect: read と）します。",
        "Add an argument idempotency_key (or expected_version), or set annotations.idempotentHint if repeating it "
        "changes nothing more; in a catalog, confirm: always or idempotency_argument. A tool that only reads says so: "
        "annotations.readOnlyHint, in a catalog effect: read.",
    ),
)
UNCONFIRMED: Final = Rule(
    "TSL214",
    "dangerous-unconfirmed",
    "strict",
    Text(
        "「{verb}」は重大な変更ですが、ツール「{tool}」は確認を求めません。",
        "`{verb}` has consequences, but tool `{tool}` asks for no confirmation.",
    ),
    Text(
        "annotations.destructiveHint を true にして実行環境に確認させるか、"
        "プレビューが返した印（confirmation_token、preview_id）を必須の引数にするか、"
        "カタログなら confirm: always と書いてください。",
        "Set annotations.destructiveHint so that the client asks, or require what a preview returned "
        "(confirmation_token, preview_id); in a catalog, confirm: always.",
    ),
)
CONTRADICTION: Final = Rule(
    "TSL215",
    "effect-contradicts-name",
    "strict",
    Text(
        "ツール「{tool}」は読み取り専用とされていますが、名前（{verb}）は変更を表します。",
        "tool `{tool}` is declared to read only, but its name ({verb}) says that it changes something.",
    ),
    Text(
        "宣言（readOnlyHint、effect）か名前を、実際の動作に合わせてください。",
        "Make the declaration (readOnlyHint, effect) or the name say what it does.",
    ),
)

RULES: Final = (UNGUARDED, UNCONFIRMED, CONTRADICTION)

_REPEATABLE: Final = endings(
    "idempotency key, idempotency token, idempotency id, idempotencykey, idempotent key, client token,"
    "client request id, client reference id, client mutation id, request id, request token, request key,"
    "deduplication id, dedup key, if match, etag, expected version, expected revision, base version,"
    "base revision"
)
_CONFIRMED: Final = endings(
    "confirmation token, confirmation id, confirm token, approval token, approval id, preview id, preview token,"
    "plan id, plan token"
)


def check(tool: Tool) -> Iterator[Finding]:
    name = {"tool": tool.label}
    if writes(tool):
        dangerous = dangerous_verb(tool)
        if dangerous is not None and not _confirms(tool):
            yield Finding(UNCONFIRMED, tool.path, {**name, "verb": dangerous})
        if not (_confirms(tool) or _repeats(tool)):
            yield Finding(UNGUARDED, tool.path, name)
    elif declared_to_write(tool) is False:
        writing = writing_verb(tool)
        if writing is not None:
            yield Finding(CONTRADICTION, tool.path, {**name, "verb": writing})


def _confirms(tool: Tool) -> bool:
    """`destructiveHint` counts only where it is written: its default is not a decision."""
    if tool.form == "catalog" and tool.definition.get("confirm") == "always":
        return True
    return tool.annotations.get("destructiveHint") is True or _has(tool, _CONFIRMED)


def _repeats(tool: Tool) -> bool:
    if tool.form == "catalog" and isinstance(tool.definition.get("idempotency_argument"), str):
        return True
    return tool.annotations.get("idempotentHint") is True or _has(tool, _REPEATABLE)


def _has(tool: Tool, wanted: Endings) -> bool:
    return any(ends_with(argument.words, wanted) for argument in arguments(tool))
