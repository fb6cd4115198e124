-- A worker that has run a stage takes the next message of its queues by itself, and begins what it is for.
-- ARGV: stage, how long to keep ended jobs ms; token, worker, lease ms, most attempts of a stage, queues...
-- Returns what `take_next` does.
return take_next(ARGV[1], 3, tonumber(ARGV[2]))
