-- The project's row of a document. ARGV: document, sequence, row (JSON [sequence, name, [calls]])
-- Returns 1: its name or calls changed | 0: they did not, or a newer save's row is there.
return put_row(ARGV[1], ARGV[2], ARGV[3]) and 1 or 0
