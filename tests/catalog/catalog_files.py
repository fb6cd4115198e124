"""Catalog files for these tests."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from catalog.load import load_catalog
from catalog.snapshot import Catalog

DATA = Path(__file__).parent.parent / "data"
CONFORMANCE = DATA / "catalog.yaml"

STOCK = """\
version: 1
tools:
  - name: zaiko
    kind: mcp
    title: 在庫管理
    hints: [在庫, 倉庫]
    categories:
      - {name: stock, title: 在庫数, hints: [残数]}
      - {name: orders, title: 発注}
    operations:
      - name: get_stock
        category: stock
        effect: read
        description: 品番の在庫数を返す。
        input_schema:
          type: object
          properties:
            item: {type: string, description: 品番}
          required: [item]
      - name: create_order
        category: orders
        description: 発注を作る。
        input_schema:
          type: object
          properties:
            warehouse: {type: string, enum: [east, on]}
            lines: {type: string, description: 品番と数の CSV}
            key: {type: string}
          required: [warehouse, lines]
        text_argument: lines
        confirm: always
        idempotency_argument: key
        timeout_s: 30
        permission: orders.write
        output_schema: {type: object}
    source:
      url: "https://zaiko.example.com/docs"
      date: 2026-11-01
      revision: "3"
      operations: 3
      left_out: [sync]
      note: 手動
    server: {url: "https://zaiko.example.com/mcp", credentials: [ZAIKO_TOKEN]}
"""

ATTENDANCE = """\
version: 1
tools:
  - name: kintai
    kind: http
    operations:
      - name: list_records
        effect: read
        method: GET
        path: /v1/employees/{employee_id}/records
        mapping: {query: [from], header: [tenant]}
        input_schema:
          type: object
          properties:
            employee_id: {type: string}
            from: {type: string, format: date}
            tenant: {type: string}
          required: [employee_id]
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(dedent(text), encoding="utf-8")
    return path


def conformance(mcp_folder: Path) -> Catalog:
    """The conformance catalog and its added server, `my_crm`."""
    config = write(
        mcp_folder, "mcp.json", '{"mcpServers": {"my_crm": {"type": "http", "url": "http://127.0.0.1:9/mcp"}}}'
    )
    return load_catalog([CONFORMANCE], config, None)
