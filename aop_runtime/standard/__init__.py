"""The standard tools: asking a person, running code, reading attachments, a browser."""
