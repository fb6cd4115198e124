-- A stage is done: the next one is to run.
-- ARGV: job, token, next stage, note (JSON for the later stages), how long to keep ended jobs ms
-- Returns {sent, class} | {lost} | {superseded}.
local job, token, stage, note, keep_job = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local key = job_key(job)
local document, held, done, superseded, class = read(key, 'document', 'token', 'stage', 'superseded', 'class')
if held == '' or held ~= token then return {'lost'} end
local now = now_ms()
took(key, done, now)
redis.call('HSET', key, 'note:' .. done, note)
emit(job, document, 'done', done)
if superseded ~= '' then
  finish(job, 'superseded', superseded, keep_job, now)
  return {'superseded'}
end
redis.call('HSET', key, 'attempts', 0, 'cause', '')
enqueue(job, stage, now)
return {'sent', class}
