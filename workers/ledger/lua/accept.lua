-- A save was stored under a reserved sequence: give it its place in the document's order, once.
-- ARGV: document, sequence, job, source, revision, rank, action, trace, idempotency key ("" none), quiet ms,
--       longest wait ms, how long to keep idempotency keys ms, how long to keep ended jobs ms
-- rank: a text by which revisions of one source sort; "" where they have no order.
-- Returns {accepted | repeated | superseded | outrun, job, sequence}.
local document, sequence, job, source, revision, rank, action, trace, once = unpack(ARGV, 1, 9)
local quiet, longest, keep_once, keep_job = tonumber(ARGV[10]), tonumber(ARGV[11]), tonumber(ARGV[12]), tonumber(ARGV[13])
local now = now_ms()
local doc = doc_key(document)
local place = number(sequence)

-- Asked again because the first answer was lost, or reindex found the stored save first.
local state = read(job_key(job), 'state')
if state ~= '' then return {state == 'superseded' and 'superseded' or 'accepted', job, sequence} end

local earlier, earlier_sequence = answered(once)
if earlier then return {'repeated', earlier, earlier_sequence} end

local seen, seen_rank, seen_sequence, seen_job =
  read(doc, 'revision:' .. source, 'rank:' .. source, 'revision_sequence:' .. source, 'revision_job:' .. source)
if revision ~= '' and revision == seen then
  remember(once, seen_job, seen_sequence, keep_once)
  return {'repeated', seen_job, seen_sequence}
end

local given, newest = read(doc, 'sequence', 'accepted')
-- Redis may have forgotten that it gave this number (a restart, a failover): it never gives it again.
if place > number(given) then redis.call('HSET', doc, 'sequence', sequence) end

local ranked = rank ~= '' and seen_rank ~= ''
if ranked and rank > seen_rank and place < number(seen_sequence) then return {'outrun', job, sequence} end

-- Older than what the same source has sent: it arrived late, and must not win.
local late = ranked and rank < seen_rank
make_job(job, document, sequence, 0, 'interactive', action, source, revision, '', trace, now)
remember(once, job, sequence, keep_once)
see_revision(doc, source, revision, rank, sequence, job)
emit(job, document, 'accepted', sequence)

if late or place <= number(newest) then
  redis.call('HSET', job_key(job), 'superseded', newest)
  finish(job, 'superseded', newest, keep_job, now)
  return {'superseded', job, sequence}
end

redis.call('HSET', doc, 'accepted', sequence, 'action', action)
redis.call('ZADD', P .. ':docs', now, document)
supersede_waiting(document, sequence, keep_job, now)
wait_turn(job, document, quiet, longest, now)
return {'accepted', job, sequence}
