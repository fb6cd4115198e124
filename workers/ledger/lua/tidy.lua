-- Jobs of class bulk that were lost on the way do not count as in flight.
-- ARGV: rebuild ("" none), how long to keep ended jobs ms. Returns how many there were.
local now, keep_job = now_ms(), tonumber(ARGV[2])
local gone = 0
for _, job in ipairs(redis.call('SMEMBERS', P .. ':bulk-inflight')) do
  local state = read(job_key(job), 'state')
  if state == '' or ENDED[state] then
    redis.call('SREM', P .. ':bulk-inflight', job)
    gone = gone + 1
  elseif not placed(job) then
    finish(job, 'superseded', '', keep_job, now)
    gone = gone + 1
  end
end
return gone
