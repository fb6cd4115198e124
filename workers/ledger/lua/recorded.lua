-- The store was told how a job ended. ARGV: job, when it ended ms
-- Returns 1 | 0: it has ended once more since then, and the store is to be told again.
local score = redis.call('ZSCORE', P .. ':unrecorded', ARGV[1])
if not score or number(score) ~= number(ARGV[2]) then return 0 end
return redis.call('ZREM', P .. ':unrecorded', ARGV[1])
