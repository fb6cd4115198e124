-- Somebody asks for the newest accepted save of a document to be compiled again, now.
-- ARGV: document, job, trace, idempotency key ("" none), how long to keep idempotency keys ms
-- Returns {sent | running | repeated, job, sequence} | {unknown}. running: the document's job that waits or runs, of
-- which the one that waits is the newer; repeated: what answered this key before; unknown: there is nothing to compile.
local document, job, trace, once = unpack(ARGV, 1, 4)
local keep_once = tonumber(ARGV[5])
local earlier, place = answered(once)
if earlier then return {'repeated', earlier, place} end
local newest, waiting, running = read(doc_key(document), 'accepted', 'waiting', 'running')
local answer = compile_again(document, job, 'interactive', '', trace)[1]
if answer == 'unknown' then return {'unknown'} end
if answer == 'busy' then
  answer = 'running'
  job = waiting ~= '' and waiting or running
  newest = read(job_key(job), 'sequence')
end
if once ~= '' then redis.call('SET', P .. ':once:' .. once, job .. ' ' .. newest, 'PX', keep_once) end
return {answer, job, newest}
