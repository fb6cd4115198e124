-- A save was stored: give it its place in the document's order, once.
-- ARGV: document, source, revision, rank, job, action, text, trace, idempotency key ("" none), quiet ms, longest wait ms,
--       how long to keep idempotency keys ms, how long to keep ended jobs ms
-- rank: a text by which revisions of one source sort; "" where they have no order.
-- Returns {accepted | repeated | superseded, job, sequence}.
local document, source, revision, rank, job, action, place, trace, once = unpack(ARGV, 1, 9)
local quiet, longest, keep_once, keep_job = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local now = now_ms()

local function repeated(earlier)
  return {'repeated', earlier, (read(job_key(earlier), 'sequence'))}
end

if once ~= '' then
  local earlier = redis.call('GET', P .. ':once:' .. once)
  if earlier then return repeated(earlier) end
end

local doc = doc_key(document)
local seen, seen_rank, seen_job = read(doc, 'revision:' .. source, 'rank:' .. source, 'revision_job:' .. source)
if revision ~= '' and revision == seen then
  if once ~= '' then redis.call('SET', P .. ':once:' .. once, seen_job, 'PX', keep_once) end
  return repeated(seen_job)
end

-- Older than what the same source has sent: it arrived late, and must not win.
local late = rank ~= '' and seen_rank ~= '' and rank < seen_rank
local sequence = late and 0 or redis.call('HINCRBY', doc, 'sequence', 1)
redis.call('HSET', job_key(job), 'document', document, 'sequence', sequence, 'class', 'interactive', 'action', action,
  'text', place, 'source', source, 'revision', revision, 'bulk', '', 'trace', trace, 'state', 'queued',
  'stage', 'parse', 'attempts', 0, 'total_attempts', 0, 'token', '', 'superseded', '', 'created_ms', integer(now))
if once ~= '' then redis.call('SET', P .. ':once:' .. once, job, 'PX', keep_once) end
emit(job, document, 'accepted', tostring(sequence))

if late then
  finish(job, 'superseded', '', keep_job, now)
  return {'superseded', job, '0'}
end

local waiting, first, unpublished = read(doc, 'waiting', 'first_ms', 'unpublished_ms')
if waiting ~= '' then
  redis.call('HSET', doc, 'waiting', '')
  redis.call('HSET', job_key(waiting), 'superseded', sequence)
  local due = redis.call('ZSCORE', P .. ':due', document)
  finish(waiting, 'superseded', tostring(sequence), keep_job, now)
  if due then redis.call('ZADD', P .. ':due', due, document) end
end
if first == '' then first = integer(now) end
if unpublished == '' then unpublished = integer(now) end
redis.call('HSET', doc, 'waiting', job, 'first_ms', first, 'unpublished_ms', unpublished)
if revision ~= '' then
  redis.call('HSET', doc, 'revision:' .. source, revision, 'rank:' .. source, rank, 'revision_job:' .. source, job)
end
redis.call('ZADD', P .. ':docs', now, document)
redis.call('ZADD', P .. ':due', math.min(now + quiet, tonumber(first) + longest), document)
return {'accepted', job, tostring(sequence)}
