"""`make bench`: every measure, from one run."""

from __future__ import annotations

from bench import compiling, stores

stores.main()
print()
compiling.main()
