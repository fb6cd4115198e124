-- A stage is done: the next one is to run.
-- ARGV: job, token, next stage, note (JSON for the later stages), the project's row of the document ("" as it is),
--       how long to keep ended jobs ms
-- Returns {sent} | {lost} | {superseded}.
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
  return {'superseded'}
end
redis.call('HSET', key, 'attempts', 0, 'cause', '')
enqueue(job, stage, now)
return {'sent'}
