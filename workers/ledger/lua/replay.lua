-- A dead job is tried again from the stage where it died. ARGV: job
-- Returns {job, stage, class} | {}.
local job = ARGV[1]
if redis.call('ZREM', P .. ':dead', job) == 0 then return {} end
local key = job_key(job)
local document, stage, class, bulk = read(key, 'document', 'stage', 'class', 'bulk')
if document == '' then return {} end
redis.call('HSET', key, 'attempts', 0, 'cause', '', 'ended_ms', '')
redis.call('HINCRBY', P .. ':totals', 'replayed', 1)
redis.call('ZREM', P .. ':unrecorded', job)
uncount_dead(bulk)
if class == 'bulk' then redis.call('SADD', P .. ':bulk-inflight', job) end
local running = read(doc_key(document), 'running')
if running == '' then redis.call('HSET', doc_key(document), 'running', job) end
enqueue(job, stage, now_ms())
emit(job, document, 'replayed', stage)
return {job, stage, class}
