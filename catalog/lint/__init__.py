"""Linting the schemas of tools (`docs/lint.md`): is a tool well-formed, and will a model use it safely?

`lint` takes a value, `lint_bytes` a file's content; `rule.Rule`s are in `registry.RULES`.
"""
