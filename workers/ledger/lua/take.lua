-- A worker that has just run a stage takes the next message of its queues by itself, and begins what it is for.
-- ARGV: stage, token, worker, lease ms, most attempts of a stage, how long to keep ended jobs ms, queues...
-- Returns what begin.lua does | {none}: the queues are empty, or what is next there is for Celery to look at.
local stage, token, worker = ARGV[1], ARGV[2], ARGV[3]
for index = 7, #ARGV do
  local queue = P .. ':queue:' .. ARGV[index]
  local job = taken_job(redis.call('LINDEX', queue, -1), stage)
  if job then
    redis.call('RPOP', queue)
    return begin_stage(job, stage, token, worker, tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]))
  end
end
return {'none'}
