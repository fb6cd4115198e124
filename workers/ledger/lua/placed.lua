-- Whether a job has a place from which it will go on, or has ended. ARGV: rebuild ("" none), job. Returns 1 | 0.
return placed(ARGV[2]) and 1 or 0
