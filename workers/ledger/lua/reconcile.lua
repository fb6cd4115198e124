-- What was lost on the way is handed to the queue again: leases whose holder fell silent, messages that have left their
-- queue and that nobody began, attempts whose time has come. Any number of reconcilers may call this.
-- ARGV: at most how many of each, ms after which a message counts as lost, most attempts of a stage,
--       how long to keep ended jobs ms
-- Returns {job, stage, class, reason, ...}: whose messages were sent again. reason: lease | message | retry.
local limit, lost, most, keep_job = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local now = now_ms()
local messages = {}

-- Whether the job's message is still on its queue: as the first in is the first out, that is so where the next one to be
-- taken was not put there later. A next one that Celery sent says no time: it is looked at again when that one is gone.
-- Without this, a queue that nobody takes from would grow by all its messages each time.
local first_ms = {}
local function waits(queue, sent)
  if first_ms[queue] == nil then
    local first = redis.call('LINDEX', P .. ':queue:' .. queue, -1)
    first_ms[queue] = first and number(string.match(first, '"delivery_tag": ?"(%d+)%-%d+"')) or math.huge
  end
  return first_ms[queue] <= number(sent)
end

local function again(set, before, reason)
  for _, job in ipairs(redis.call('ZRANGEBYSCORE', P .. set, '-inf', before, 'LIMIT', 0, limit)) do
    local key = job_key(job)
    local document, stage, class, attempts, superseded, sent =
      read(key, 'document', 'stage', 'class', 'attempts', 'superseded', 'sent_ms')
    if document == '' then
      redis.call('ZREM', P .. set, job)
    elseif superseded ~= '' then
      finish(job, 'superseded', superseded, keep_job, now)
    elseif reason == 'message' and waits(stage .. '.' .. class, sent) then
      redis.call('ZADD', P .. ':messages', now, job)
    else
      if reason == 'lease' then
        redis.call('HSET', key, 'cause', 'lease expired: the worker ' .. (read(key, 'worker')) .. ' fell silent')
        redis.call('HINCRBY', P .. ':totals', 'expired:' .. stage, 1)
        emit(job, document, 'lease-expired', stage)
      end
      if reason == 'lease' and tonumber(attempts) >= most then
        finish(job, 'dead', stage, keep_job, now)
      else
        enqueue(job, stage, now)
        for _, part in ipairs({job, stage, class, reason}) do messages[#messages + 1] = part end
      end
    end
  end
end

again(':leases', now, 'lease')
again(':messages', now - lost, 'message')
again(':retries', now, 'retry')
return messages
