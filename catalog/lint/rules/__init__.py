"""The rules, by what they are about. Each module exports its `RULES`, and `check`, which finds what breaks them in one
tool (or `check_all`, among all).

A new rule takes the next free id of its hundred. Its module stands in `catalog.lint.registry`, its chapter with a
failing and a passing example in both `docs/lint.md` and `docs/lint.ja.md`, what looks like it and is none in
`tests/lint`.
"""
