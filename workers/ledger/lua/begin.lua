-- A worker has a message for a stage: may it run?
-- ARGV: job, stage, token, worker, lease ms, most attempts of a stage, how long to keep ended jobs ms
-- Returns {run, digest of the current catalog ("" unknown), the job's fields...}
--   | {gone} | {ended} | {elsewhere} | {leased} | {superseded} | {dead}.
local job, stage, token, worker = unpack(ARGV, 1, 4)
local lease, most, keep_job = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local now = now_ms()
local key = job_key(job)
local document, state, at, held, lease_ms, superseded, attempts =
  read(key, 'document', 'state', 'stage', 'token', 'lease_ms', 'superseded', 'attempts')
if document == '' then return {'gone'} end
if ENDED[state] then return {'ended'} end
if state == 'queued' or at ~= stage then return {'elsewhere'} end
if held ~= '' and tonumber(lease_ms) > now then return {'leased'} end
if superseded ~= '' then
  finish(job, 'superseded', superseded, keep_job, now)
  return {'superseded'}
end
if tonumber(attempts) >= most then
  finish(job, 'dead', stage, keep_job, now)
  return {'dead'}
end
forget_place(job)
redis.call('HINCRBY', key, 'attempts', 1)
redis.call('HINCRBY', key, 'total_attempts', 1)
redis.call('HSET', key, 'token', token, 'worker', worker, 'lease_ms', integer(now + lease), 'begun:' .. stage, integer(now))
redis.call('ZADD', P .. ':leases', now + lease, job)
emit(job, document, 'begun', stage)
return {'run', text(redis.call('GET', P .. ':catalog')), unpack(redis.call('HGETALL', key))}
