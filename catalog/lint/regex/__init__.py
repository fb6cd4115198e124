"""ECMA-262 regular expressions (JSON Schema's dialect) that a stranger wrote: read, judged and matched in bounded time.

Python's own engine backtracks, and its dialect is another one.
"""
