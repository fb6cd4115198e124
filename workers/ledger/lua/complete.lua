-- The job has its outcome: published (succeeded), or the user's document cannot be compiled (failed).
-- ARGV: job, token, succeeded | failed | superseded, outcome (JSON), how long to keep ended jobs ms; what is to be
--       taken in the same step, as in take.lua, or nothing
-- The worker has put the outcome in the store before.
-- Returns {lost} | {ended, and what `take_next` does...}. superseded here: a newer save was published before this one could be.
local job, token, outcome, detail, keep_job = ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5])
local key = job_key(job)
local held, stage = read(key, 'token', 'stage')
if held == '' or held ~= token then return {'lost'} end
local now = now_ms()
took(key, stage, now)
finish(job, outcome, detail, keep_job, now, true)
return {'ended', unpack(take_next(stage, 6, keep_job))}
