-- A dead letter of the store whose job the ledger does not know: it waits for a person again. What its stages left for
-- one another is gone, so it would be replayed from its first stage.
-- ARGV: rebuild ("" none), job, document, sequence, round, class, action, source, revision, trace, cause, died ms
-- Returns 1 | 0: the ledger has the job, in a place.
local job, document, sequence, round, class, action, source, revision, trace, cause, died = unpack(ARGV, 2, 12)
local key = job_key(job)
if placed(job) then return 0 end
redis.call('DEL', key)
make_job(job, document, sequence, round, class, action, source, revision, '', trace, tonumber(died))
redis.call('HSET', key, 'state', 'dead', 'ended_ms', died, 'cause', cause)
redis.call('ZADD', P .. ':dead', died, job)
return 1
