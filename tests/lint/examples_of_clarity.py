"""What the rules about clarity must find, and what looks like it and is none; beside the examples of `docs/lint.md`."""

from __future__ import annotations

from .making import LOOP, STRING, TOOL, Examples, arguments, flags, numbers, operation, schema, text, texts, tool

EXAMPLES: dict[str, Examples] = {
    "TSL301": Examples(
        [tool("report"), tool("monthly_report"), tool("user_info"), tool("board_insights")],
        [
            *(tool(name) for name in ("get_report", "listReports", "slack_post_message", "channels_list", "search")),
            *(
                tool(name)
                for name in ("kintone-update-app", "API-get-user", "web_search_exa", "rescheduleCalendarEvent")
            ),
        ],
    ),
    "TSL302": Examples(
        [
            tool(name)
            for name in ("process_data", "do_it", "run", "execute", "api_call", "tool", "handleRequest", "a", "manage")
        ],
        [tool(name) for name in ("process_invoice", "run_report", "search", "get_data_pipeline", "manage_calendar")],
    ),
    "TSL303": Examples(
        texts("data", "payload", "params", "arg1", "x", "q", "args"),
        [*texts("value", "input", "report_data", "題"), *numbers("x", "y"), arguments(data={"enum": ["a"]})],
    ),
    "TSL304": Examples(
        [tool("get_report", description=said) for said in ("TODO", "Report", "report.", "Get report", "説明", "-")],
        [
            tool("get_report", description=said)
            for said in ("先月の報告書を返す。", "Returns last month's report as a table.")
        ],
    ),
    "TSL305": Examples(
        [arguments(a=STRING), arguments(a={"type": "object", "description": "An a.", "properties": {"b": STRING}})],
        [
            arguments(a=text(description="An a.")),
            arguments(a=text(title="An a")),
            schema(**{"$defs": {"a": text(title="A")}}, properties={"a": LOOP}),
        ],
    ),
    "TSL306": Examples(
        [
            arguments(a=text(description="One of: asc, desc")),
            arguments(a=text(description='Must be one of "a" or "b"')),
            arguments(a=text(description="Possible values: a, b")),
            arguments(a=text(description="並び順（asc、desc のいずれか）")),
        ],
        [
            arguments(a={"enum": ["asc", "desc"], "description": "One of: asc, desc"}),
            arguments(a=text(description="Any one of the customers' names.")),
            arguments(
                a=text(description="file_path、content_text のいずれかを指定"), file_path=STRING, content_text=STRING
            ),
            arguments(a=text(description="One of: x1, x2", pattern="^x[12]$")),
        ],
    ),
    "TSL307": Examples(
        [
            schema(**{"$schema": name})
            for name in ("http://json-schema.org/draft-04/schema#", "https://example.com/own")
        ],
        [
            schema(**{"$schema": name})
            for name in ("http://json-schema.org/draft-07/schema", "https://json-schema.org/draft/2020-12/schema#")
        ],
    ),
    "TSL308": Examples([arguments(a=text(examples=["a", 5]))], [arguments(a=text(examples=["a"]))]),
    "TSL309": Examples(
        [
            arguments(a={}),
            arguments(a=True),
            arguments(a={"description": "An a."}),
            arguments(a={"type": "array", "items": {}}),
            arguments(a={"type": "array", "items": True}),
        ],
        [
            arguments(a={"anyOf": [STRING]}),
            arguments(a=False),
            schema(allOf=[{"properties": {"a": {"maxLength": 5}}}], properties={"a": STRING}),
        ],
    ),
    "TSL310": Examples(
        numbers("timeout", "duration", "max_size", "unitPrice", "amount", "金額"),
        [
            *numbers(
                "timeout_ms",
                "durationSeconds",
                "page_size",
                "amount_jpy",
                "count",
                "latitude",
                "agent",
                "file_size_bytes",
            ),
            arguments(timeout={"type": "integer", "description": "Seconds to wait."}),
            arguments(amount={"type": "integer"}, currency=STRING),
            arguments(timeout={"enum": [1, 2]}),
            *texts("duration"),
        ],
    ),
    "TSL311": Examples(
        texts("date", "start_date", "createdAt", "email", "timezone", "currency", "phone", "日付"),
        [
            *texts("update", "candidate", "at", "look_at", "emails_enabled", "candidate_name"),
            arguments(date=text(format="date")),
            arguments(date=text(pattern="^\\d{4}-\\d{2}-\\d{2}$")),
            arguments(date=text(description="YYYY-MM-DD")),
            arguments(currency=text(description="ISO 4217 code")),
            arguments(timezone=text(description="例: Asia/Tokyo")),
            *numbers("created_at"),
        ],
    ),
    "TSL312": Examples(
        [arguments(a={"enum": ["a", "a"]}), arguments(a={"enum": [1, 1.0]})], [arguments(a={"enum": [1, True, "1"]})]
    ),
    "TSL313": Examples(
        [
            arguments(action={"enum": ["create", "delete"]}),
            arguments(operation={"enum": ["get_user", "update_user"]}),
            arguments(method={"enum": ["GET", "DELETE"]}),
            schema(
                oneOf=[{"properties": {"action": {"const": "create"}}}, {"properties": {"action": {"const": "remove"}}}]
            ),
            *flags("delete", "should_send"),
        ],
        [
            arguments(role={"enum": ["read", "write"]}),
            arguments(event={"enum": ["create", "delete"]}),
            arguments(payment_method={"enum": ["transfer", "charge"]}),
            arguments(mode={"enum": ["fast", "slow"]}),
            arguments(action=STRING),
            arguments(
                files={
                    "type": "array",
                    "items": {"type": "object", "properties": {"action": {"enum": ["create", "delete"]}}},
                }
            ),
            *flags("notify", "include_deleted", "archived"),
        ],
    ),
    "TSL314": Examples(
        [
            [tool("get_report"), tool("search_archive")],
            [
                arguments(a=STRING),
                {**arguments(a=STRING), "name": "fetchReports", "description": "Fetches a report by its number."},
            ],
        ],
        [
            [tool("get_report"), tool("get_invoice", description="Returns one of the invoices of last month.")],
            [
                arguments(a=STRING),
                {**arguments(b=STRING), "name": "fetch_reports", "description": "Fetches the reports of a customer."},
            ],
            {
                "version": 1,
                "tools": [{"operations": [tool("a", effect="read")]}, {"operations": [tool("a", effect="read")]}],
            },
        ],
    ),
    "TSL315": Examples([{"version": 1, "tools": [{"kind": "mcp", "operations": [TOOL]}]}], [operation(), [TOOL]]),
}
