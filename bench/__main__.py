"""`make bench`: every measure, from one run."""

from __future__ import annotations

from bench import calling, compiling, dry_run, loading, stores, suggesting

stores.main()
print()
loading.main()
print()
suggesting.main()
print()
compiling.main()
print()
calling.main()
print()
dry_run.main()
