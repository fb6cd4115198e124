"""Many documents compiled again: what would run and why, before anything is queued; then a few at a time."""
