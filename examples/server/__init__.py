"""What stands in for a company's connectors where there are none: the catalog's own operations and schemas, answered
with what `results.yaml` holds. `python -m examples.server TOOL` serves one; nothing leaves this machine."""
