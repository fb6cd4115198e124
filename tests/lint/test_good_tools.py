"""Tools as the guide to tool schemas has them pass with --strict, in each form."""

from __future__ import annotations

import pytest

from catalog.lint.lint import lint
from catalog.nodes import Json

EVENT: Json = {"type": "string", "description": "予定の ID", "pattern": "^evt_[A-Za-z0-9]{10,32}$"}
MOMENT: Json = {"type": "string", "description": "日時（タイムゾーンつき）", "format": "date-time"}
KEY: Json = {"type": "string", "description": "同じ呼び出しを 2 度行わないための鍵", "minLength": 8, "maxLength": 64}


def closed(required: list[Json], **properties: Json) -> Json:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


RESCHEDULE: dict[str, Json] = {
    "name": "reschedule_calendar_event",
    "description": "予定の開始と終了を変更する。日時を変えるときに使い、新しい予定には使わない。参加者に通知される。",
    "parameters": closed(
        ["event_id", "starts_at", "ends_at", "idempotency_key"],
        event_id=EVENT,
        starts_at=MOMENT,
        ends_at=MOMENT,
        idempotency_key=KEY,
    ),
}
FIND: dict[str, Json] = {
    "name": "find_calendar_events",
    "description": "Finds events of the user's calendar by words and days. Use it before an event is changed.",
    "inputSchema": closed(
        ["words"],
        words={"type": "string", "description": "Words of the title", "minLength": 1, "maxLength": 200},
        first_day={"type": "string", "description": "From this day on", "format": "date"},
        calendars={
            "type": "array",
            "description": "Which calendars",
            "items": {"type": "string", "enum": ["own", "team", "holidays"]},
            "uniqueItems": True,
        },
        limit={"type": "integer", "description": "How many at most", "minimum": 1, "maximum": 50, "default": 10},
    ),
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
}
SEND: dict[str, Json] = {
    "name": "send_invitation",
    "description": "Sends the invitation that prepare_invitation has shown to the user, and to nobody else.",
    "input_schema": closed(
        ["preview_id"], preview_id={"type": "string", "description": "From prepare_invitation", "maxLength": 40}
    ),
}
TREE: dict[str, Json] = {
    "name": "search_invoices",
    "description": "Finds invoices by conditions that may be nested. Changes nothing.",
    "inputSchema": {
        "type": "object",
        "properties": {"condition": {"$ref": "#/$defs/condition"}},
        "required": ["condition"],
        "unevaluatedProperties": False,
        "$defs": {
            "condition": {
                "description": "A comparison, or several conditions",
                "oneOf": [
                    closed(
                        ["field", "value"],
                        field={"type": "string", "description": "What is compared", "enum": ["customer", "number"]},
                        value={"type": "string", "description": "With what", "maxLength": 100},
                    ),
                    closed(
                        ["all"],
                        all={
                            "type": "array",
                            "description": "All must hold",
                            "items": {"$ref": "#/$defs/condition"},
                            "maxItems": 10,
                        },
                    ),
                ],
            }
        },
    },
    "annotations": {"readOnlyHint": True},
}
CATALOG: Json = {
    "version": 1,
    "tools": [
        {
            "name": "yotei",
            "kind": "mcp",
            "operations": [
                {
                    "name": "delete_event",
                    "effect": "write",
                    "confirm": "always",
                    "description": "予定を 1 件、取り消せない形で消す。",
                    "input_schema": closed(["event_id"], event_id=EVENT),
                },
                {
                    "name": "create_event",
                    "effect": "write",
                    "idempotency_argument": "idempotency_key",
                    "description": "予定を 1 件作る。変更には使わない。",
                    "input_schema": closed(["starts_at"], starts_at=MOMENT, idempotency_key=KEY),
                },
            ],
        }
    ],
}

GOOD: dict[str, Json] = {
    "function": {"type": "function", "function": RESCHEDULE},
    "flat function": {"type": "function", **RESCHEDULE},
    "mcp": FIND,
    "input_schema": SEND,
    "recursive": TREE,
    "list": [FIND, SEND, TREE, {"type": "function", "function": RESCHEDULE}],
    "answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [FIND, TREE]}},
    "catalog": CATALOG,
}


@pytest.mark.parametrize("name", GOOD)
def test_a_good_tool_passes_with_strict(name: str) -> None:
    """And there is no advice about it either."""
    report = lint(GOOD[name])
    assert report.findings == ()
    assert report.structurally_valid
    assert report.strict_pass
