-- The next documents of a recompile begin, while fewer than so many bulk jobs are under way. Any number of dispatchers
-- may call this.
-- ARGV: bulk, window, ms after which a document is tried again whose job waits or runs, ids for the jobs...
-- Returns {job, stage, class, document, ...}: whose first messages were sent.
local bulk, window, later = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local key = bulk_key(bulk)
local todo = key .. ':todo'
local messages = {}
if read(key, 'state') ~= 'running' then return messages end
local now = now_ms()
for index = 4, #ARGV do
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
      count_bulk(bulk, document, '', 'skipped')
    end
  end
end
return messages
