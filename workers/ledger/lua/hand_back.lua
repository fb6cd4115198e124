-- A worker that is asked to end gives its job back: the attempt does not count, and the stage is to run elsewhere, now.
-- ARGV: job, token
-- Returns {sent} | {lost}.
local job, token = ARGV[1], ARGV[2]
local key = job_key(job)
local document, held, stage, attempts = read(key, 'document', 'token', 'stage', 'attempts')
if held == '' or held ~= token then return {'lost'} end
if number(attempts) > 0 then
  redis.call('HINCRBY', key, 'attempts', -1)
  redis.call('HINCRBY', key, 'total_attempts', -1)
end
enqueue(job, stage, now_ms())
emit(job, document, 'handed-back', stage)
return {'sent'}
