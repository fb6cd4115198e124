"""The four stages as jobs: each takes what the earlier ones left, has the compiler go one stage further, and says what
comes next. Nothing here moves the ledger: `workers.shell` does, around all four alike."""
