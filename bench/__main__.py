"""`make bench`: every measure, from one run."""

from __future__ import annotations

from bench import calling, compiling, dry_run, loading, shapes, stores, suggesting

stores.main()
print()
loading.main()
print()
suggesting.main()
print()
compiling.main()
print()
shapes.main()
print()
calling.main()
print()
dry_run.main()
