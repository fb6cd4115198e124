-- A bucket of tokens: one is taken, unless it is empty. ARGV: key, ms in which one token comes back, size
-- Returns 0 | ms after which to ask again.
-- One number is kept, the time when the bucket will be full (the generic cell rate algorithm).
local key, interval, size = P .. ':rate:' .. ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local now = now_ms()
local full = math.max(now, number(redis.call('GET', key)))
local wait = full - now - (size - 1) * interval
if wait > 0 then return math.ceil(wait) end
redis.call('SET', key, string.format('%.3f', full + interval), 'PX', math.ceil(full + interval - now))
return 0
