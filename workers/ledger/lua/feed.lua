-- The next documents of a recompile begin, while fewer than so many bulk jobs are under way. Any number of dispatchers
-- may call this.
-- ARGV: bulk, window, ms after which a document is tried again whose job waits or runs, how long to keep a recompile
--       that has ended ms, ids for the jobs...
-- Returns {job, stage, class, document, ...}: the messages to send.
local bulk, window, later, keep = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local key = bulk_key(bulk)
local todo = key .. ':todo'
local messages = {}
if read(key, 'state') ~= 'running' then return messages end
local now = now_ms()
for index = 5, #ARGV do
  if redis.call('SCARD', P .. ':bulk-inflight') >= window then break end
  local document = redis.call('ZRANGEBYSCORE', todo, '-inf', now, 'LIMIT', 0, 1)[1]
  if not document then break end
  local answer, job, stage, class = unpack(compile_again(document, ARGV[index], 'bulk', bulk, ''))
  if answer == 'busy' then
    redis.call('ZADD', todo, now + later, document)
  else
    redis.call('ZREM', todo, document)
    if answer == 'sent' then
      for _, part in ipairs({job, stage, class, document}) do messages[#messages + 1] = part end
    else
      redis.call('HINCRBY', key, 'skipped', 1)
    end
  end
end
if redis.call('EXISTS', todo) == 0 then
  redis.call('PEXPIRE', key, keep)
  redis.call('PEXPIRE', key .. ':results', keep)
end
return messages
