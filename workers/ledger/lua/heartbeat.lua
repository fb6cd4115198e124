-- ARGV: job, token, lease ms
-- Returns {held} | {lost} | {superseded}: the lease is longer now; somebody else has the job; it is no longer wanted.
local job, token, lease = ARGV[1], ARGV[2], tonumber(ARGV[3])
local key = job_key(job)
local held, superseded = read(key, 'token', 'superseded')
if held == '' or held ~= token then return {'lost'} end
local now = now_ms()
redis.call('HSET', key, 'lease_ms', integer(now + lease))
redis.call('ZADD', P .. ':leases', now + lease, job)
if superseded ~= '' then return {'superseded'} end
return {'held'}
