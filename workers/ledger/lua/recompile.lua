-- The newest accepted save of a document is to be compiled again, now.
-- ARGV: document, job, class, bulk ("" none), trace
-- Returns {sent, job, stage, class} | {busy}: a job of the document waits or runs | {unknown}: there is nothing to
-- compile, because no save was accepted or the newest retires the document.
local document, job, class, bulk, trace = unpack(ARGV, 1, 5)
local doc = doc_key(document)
local newest, action, waiting, running = read(doc, 'accepted', 'action', 'waiting', 'running')
if newest == '' or action == 'retire' then return {'unknown'} end
if waiting ~= '' or running ~= '' then return {'busy'} end
local now = now_ms()
local round = integer(redis.call('HINCRBY', doc, 'round', 1))
make_job(job, document, newest, round, class, action, '', '', bulk, trace, now)
redis.call('HSET', job_key(job), 'claimed_ms', integer(now))
redis.call('HSET', doc, 'running', job)
if class == 'bulk' then redis.call('SADD', P .. ':bulk-inflight', job) end
if bulk ~= '' then redis.call('HINCRBY', bulk_key(bulk), 'started', 1) end
emit(job, document, 'accepted', newest)
enqueue(job, 'parse', now)
emit(job, document, 'claimed', 'parse')
return {'sent', job, 'parse', class}
