-- A dead job is given up. ARGV: job, how long to keep it still ms
-- Returns 1, or 0 where it is not among the dead.
local job, keep_job = ARGV[1], tonumber(ARGV[2])
if redis.call('ZREM', P .. ':dead', job) == 0 then return 0 end
keep_ended(job, keep_job)
return 1
