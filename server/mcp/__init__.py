"""The MCP server at `/mcp`: what compiling needs, as tools. Streamable HTTP, stateless; each request has a token."""
