-- A save is to be stored: under which sequence?
-- ARGV: document, source, revision, idempotency key ("" none), how long to keep idempotency keys ms
-- Returns {reserved, "", sequence} | {repeated, job, sequence}: the same save was accepted before.
local document, source, revision, once = unpack(ARGV, 1, 4)
local doc = doc_key(document)
local earlier, place = answered(once)
if earlier then return {'repeated', earlier, place} end
local seen, seen_sequence, seen_job =
  read(doc, 'revision:' .. source, 'revision_sequence:' .. source, 'revision_job:' .. source)
if revision ~= '' and revision == seen then
  remember(once, seen_job, seen_sequence, tonumber(ARGV[5]))
  return {'repeated', seen_job, seen_sequence}
end
return {'reserved', '', integer(redis.call('HINCRBY', doc, 'sequence', 1))}
