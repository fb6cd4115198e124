-- A recompile begins whose documents are in its todo already (where there are any), unless the token has begun one.
-- ARGV: token of the plan, bulk, scope, catalog, by, how many documents, how long to keep it when it has ended ms,
--       how long to keep the token ms
-- Returns {bulk}, or the earlier one of the token.
local token, bulk, scope, catalog, by, total = unpack(ARGV, 1, 6)
local keep, keep_token = ARGV[7], tonumber(ARGV[8])
local key, planned = bulk_key(bulk), P .. ':planned:' .. token
local earlier = redis.call('GET', planned)
if earlier then
  redis.call('DEL', key .. ':todo')
  return {earlier}
end
local now = now_ms()
redis.call('SET', planned, bulk, 'PX', keep_token)
redis.call('DEL', P .. ':plan:' .. token)
redis.call('PERSIST', key .. ':todo')
redis.call('HSET', key, 'state', 'running', 'scope', scope, 'catalog', catalog, 'by', by, 'total', total,
  'created_ms', integer(now), 'keep_ms', keep)
redis.call('ZADD', P .. ':bulks-open', now, bulk)
-- Those that have expired are listed no more.
for _, other in ipairs(redis.call('ZRANGE', P .. ':bulks', 0, 99)) do
  if redis.call('EXISTS', bulk_key(other)) == 0 then redis.call('ZREM', P .. ':bulks', other) end
end
redis.call('ZADD', P .. ':bulks', now, bulk)
end_bulk(bulk)
return {bulk}
