-- A recompile is paused, goes on, or is cancelled, unless it has ended. Jobs that are under way end by themselves.
-- ARGV: bulk, state: running | paused | cancelled
-- Returns {state before, state after} | {}: there is none.
local bulk, state = unpack(ARGV, 1, 2)
local key = bulk_key(bulk)
local before, keep = read(key, 'state', 'keep_ms')
if before == '' then return {} end
if before == 'cancelled' or before == 'finished' then return {before, before} end
redis.call('HSET', key, 'state', state)
if state == 'cancelled' then
  redis.call('DEL', key .. ':todo')
  redis.call('ZREM', P .. ':bulks-open', bulk)
  for _, name in ipairs({key, key .. ':results'}) do redis.call('PEXPIRE', name, keep) end
end
return {before, state}
