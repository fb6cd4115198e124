-- A stage is done: the next one is to run.
-- ARGV: job, token, next stage, note (JSON for the later stages), the project's row of the document ("" as it is),
--       how long to keep ended jobs ms; what is to be taken in the same step, as in take.lua, or nothing
-- Returns {lost} | {sent | superseded, and what `take_next` does...}.
local job, token, stage, note, row = unpack(ARGV, 1, 5)
local keep_job = tonumber(ARGV[6])
local key = job_key(job)
local document, held, done, superseded, sequence =
  read(key, 'document', 'token', 'stage', 'superseded', 'sequence')
if held == '' or held ~= token then return {'lost'} end
local now = now_ms()
took(key, done, now)
if row ~= '' then put_row(document, sequence, row) end
redis.call('HSET', key, 'note:' .. done, note)
emit(job, document, 'done', done)
if superseded ~= '' then
  finish(job, 'superseded', superseded, keep_job, now)
  return {'superseded', unpack(take_next(done, 7, keep_job))}
end
redis.call('HSET', key, 'attempts', 0, 'cause', '')
enqueue(job, stage, now)
return {'sent', unpack(take_next(done, 7, keep_job))}
