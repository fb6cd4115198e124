-- Documents whose quiet time is over: their waiting jobs begin. Any number of dispatchers may call this.
-- ARGV: at most how many, ms after which a document that was never published keeps its running job
-- Returns {job, stage, class, document, ...}: whose first messages were sent.
local now = now_ms()
local due = redis.call('ZRANGEBYSCORE', P .. ':due', '-inf', now, 'LIMIT', 0, tonumber(ARGV[1]))
local patience = tonumber(ARGV[2])
local messages = {}
for _, document in ipairs(due) do
  redis.call('ZREM', P .. ':due', document)
  local doc = doc_key(document)
  local job, running, unpublished = read(doc, 'waiting', 'running', 'unpublished_ms')
  if job ~= '' then
    local sequence, action, class = read(job_key(job), 'sequence', 'action', 'class')
    local starved = unpublished ~= '' and now - tonumber(unpublished) > patience
    if running ~= '' and not starved then redis.call('HSET', job_key(running), 'superseded', sequence) end
    redis.call('HSET', doc, 'waiting', '', 'first_ms', '', 'running', job)
    redis.call('HSET', job_key(job), 'claimed_ms', integer(now))
    -- Retiring compiles nothing: it is publishing, in its turn.
    local stage = action == 'retire' and 'verify' or 'parse'
    enqueue(job, stage, now)
    emit(job, document, 'claimed', stage)
    for _, part in ipairs({job, stage, class, document}) do messages[#messages + 1] = part end
  end
end
return messages
