"""Runs: what is kept of each, so that it can be followed, stopped, resumed and audited."""
