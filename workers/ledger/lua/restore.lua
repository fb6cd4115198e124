-- What the store says of a document is added where the ledger lacks it; nothing that it has is changed.
-- ARGV: rebuild ("" none), document, facts (JSON, `records.Facts`), quiet ms, longest wait ms, how long to keep ended
--       jobs ms
-- Returns {made | complete, sequence of the newest accepted save}: made: the newest save got its job again.
local document, facts = ARGV[2], cjson.decode(ARGV[3])
local quiet, longest, keep_job = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local now = now_ms()
local doc = doc_key(document)
local sequence, accepted, round, published, published_round, ended, ended_round, forgotten =
  read(doc, 'sequence', 'accepted', 'round', 'published', 'published_round', 'ended', 'ended_round', 'forgotten')

if facts.sequence > number(sequence) then redis.call('HSET', doc, 'sequence', integer(facts.sequence)) end
-- A worker of the lost ledger may still be at the round after the newest that the store knows.
local least = facts.round + (accepted == '' and facts.round > 0 and 1 or 0)
if least > number(round) then redis.call('HSET', doc, 'round', integer(least)) end
if after(facts.published, facts.published_round, published, published_round) then
  redis.call('HSET', doc, 'published', integer(facts.published), 'published_round', integer(facts.published_round),
    'published_job', facts.published_job)
end
if after(facts.ended, facts.ended_round, ended, ended_round) then
  redis.call('HSET', doc, 'ended', integer(facts.ended), 'ended_round', integer(facts.ended_round), 'state', facts.state)
end
for _, seen in ipairs(facts.revisions) do
  see_revision(doc, seen.source, seen.revision, seen.rank, integer(seen.sequence), seen.job)
end
for _, once in ipairs(facts.once) do
  redis.call('SET', P .. ':once:' .. once.key, once.job .. ' ' .. integer(once.sequence), 'PX', integer(once.keep_ms), 'NX')
end
if facts.forgotten > number(forgotten) then redis.call('HSET', doc, 'forgotten', integer(facts.forgotten)) end
if facts.row ~= '' and redis.call('HSETNX', P .. ':index', document, facts.row) == 1 then
  redis.call('INCR', P .. ':index-version')
end

-- A job that is gone holds up nothing.
for _, field in ipairs({'waiting', 'running'}) do
  local job = read(doc, field)
  if job ~= '' and not placed(job) then
    redis.call('HSET', doc, field, '')
    if field == 'waiting' then redis.call('ZREM', P .. ':due', document) end
  end
end

if facts.accepted == 0 or facts.accepted < number(accepted) then return {'complete', accepted} end
local place = integer(facts.accepted)
redis.call('ZADD', P .. ':docs', 'NX', facts.accepted_ms, document)
if facts.accepted > number(accepted) then
  redis.call('HSET', doc, 'accepted', place, 'action', facts.action)
  redis.call('ZADD', P .. ':docs', facts.accepted_ms, document)
  supersede_waiting(document, place, keep_job, now)
end
-- By what the store says: an end that it was never told of has come to nothing.
if facts.job == '' or facts.ended >= facts.accepted or placed(facts.job) then return {'complete', place} end
redis.call('DEL', job_key(facts.job))
make_job(facts.job, document, place, '0', 'interactive', facts.action, facts.source, facts.revision, '', facts.trace, now)
emit(facts.job, document, 'accepted', place)
wait_turn(facts.job, document, quiet, longest, now)
return {'made', place}
