-- An attempt failed for a reason of ours: the stage is tried again later, or the job is dead.
-- ARGV: job, token, cause, ms until the next attempt, most attempts of a stage, how long to keep ended jobs ms
-- Returns {retry} | {dead} | {lost}.
local job, token, cause = ARGV[1], ARGV[2], ARGV[3]
local delay, most, keep_job = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local key = job_key(job)
local document, held, stage, attempts = read(key, 'document', 'token', 'stage', 'attempts')
if held == '' or held ~= token then return {'lost'} end
local now = now_ms()
redis.call('HSET', key, 'cause', cause, 'token', '')
emit(job, document, 'attempt-failed', stage)
if tonumber(attempts) >= most then
  finish(job, 'dead', stage, keep_job, now)
  return {'dead'}
end
forget_place(job)
redis.call('ZADD', P .. ':retries', now + delay, job)
return {'retry'}
