"""A tool's JSON Schema: its parts, what they refer to, and what it allows."""
