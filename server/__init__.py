"""The service over HTTP: webhooks that bring saves (`hooks`), REST (`rest`), and the MCP server (`mcp`).

Each part is a package with a `routes(service)`, which `server.app` puts together; a part that is added (web pages,
OAuth, outgoing webhooks) is a package beside these, and one line there. What they share: `service` (Redis, the store,
the ledger, threads), `auth` (who asks, and what they may), `errors`, `limits`, `language`.
"""
