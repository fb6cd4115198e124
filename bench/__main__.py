"""`make bench`: every measure, from one run."""

from __future__ import annotations

from bench import compiling, loading, stores

stores.main()
print()
loading.main()
print()
compiling.main()
