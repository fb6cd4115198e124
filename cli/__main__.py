"""`python -m cli` is `aop`."""

from __future__ import annotations

from cli.main import run

if __name__ == "__main__":  # a child process of the server reads it as well
    run()
