"""Texts that a save only refers to: fetched by the parse worker, never while somebody waits for an answer."""
