"""Incremental compiles (R1-R4): what a stage read, when what it made may be used again, and why it runs otherwise."""
