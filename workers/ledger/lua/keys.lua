-- The ledger's keys, and what every transition shares. Put in front of each script of this folder, and that behind
-- the lines that set SCHEMA and REBUILDS.
--
-- KEYS[1] is the prefix P of all keys (one installation). Other keys are made of it here: a Redis Cluster, which would
-- want them named beforehand, is refused at start.
--
-- P:meta             hash    schema: the version of this layout; missing: there is no ledger (Redis was wiped)
--                            epoch: random, of this ledger; rebuild: of the reindex that is at work on a new one
-- P:doc:ID           hash    sequence: the newest that was given to a save, from 1
--                            accepted: of the newest accepted save; action: compile | retire, what it asks for
--                            round: of the newest compile of any save again, from 1
--                            waiting: the job that the next claim will take ("" none)
--                            first_ms: when the oldest save was accepted that no claim has taken yet
--                            running: the job that was claimed last, while it is under way ("" none)
--                            unpublished_ms: since when a save has been accepted and none published ("" none)
--                            published, published_round: the newest that is published; published_job
--                            state: accepted | succeeded | failed | dead | retired, of the newest compile that has ended
--                            ended, ended_round: the sequence and round that state speaks of
--                            revision:SOURCE, rank:SOURCE, revision_sequence:SOURCE, revision_job:SOURCE: the newest
--                            revision of each source
--                            forgotten: the newest sequence whose row was removed from the index
-- P:docs             zset    document id by the time of its newest accepted save, ms
-- P:due              zset    document id by the time when its waiting job is to be claimed, ms
-- P:job:ID           hash    document, sequence, round, class (interactive | bulk), action (compile | retire), source,
--                            revision, bulk ("" none), trace (W3C traceparent or "")
--                            state: queued | parsing | resolving | generating | verifying
--                                   | succeeded | failed | superseded | dead
--                            stage: parse | resolve | generate | verify, of which state is the doing
--                            attempts: of this stage; total_attempts: of all
--                            token: of the lease's holder ("" none), lease_ms: when it ends, worker: who holds it
--                            superseded: the sequence of the save that makes this job needless ("" none)
--                            created_ms, claimed_ms, ended_ms; sent_ms: when the message for the stage was put on its
--                            queue; begun:STAGE, took:STAGE in ms; note:STAGE: JSON that the stage left for the next
--                            ones; outcome: JSON; cause: of the last failed attempt
--                            Expires when it has ended, dead jobs excepted.
-- P:queue:STAGE.CLASS  list  the broker's: messages, each for a stage of a job. Those that Celery has taken are the
--                            broker's own keys, P:queue:…
-- P:messages         zset    job id by the time when the message for its stage was put on the queue or last known to
--                            wait there, ms. A job that is under way is in exactly one of messages, leases and retries.
-- P:leases           zset    job id by the time when its lease ends, ms
-- P:retries          zset    job id by the time when it may be tried again, ms
-- P:dead             zset    job id by the time of its death, ms
-- P:unrecorded       zset    job id by the time of its end, ms: ended here, and the store has not been told yet
-- P:events:JOB       stream  what happened to the job: at most MAX_EVENTS, expires with it
-- P:events           stream  the same of all jobs, for those who watch: at most MAX_ALL_EVENTS
-- P:once:KEY         string  "JOB SEQUENCE" of the save that answered this idempotency key; expires
-- P:totals           hash    succeeded, failed, superseded, dead, expired:STAGE, messages: how many ever
-- P:index            hash    document id -> JSON [sequence, name, [calls]]: the project
-- P:index-version    string  how often a name or calls in it have changed
-- P:bulk:ID          hash    of a recompile; state: running | paused | cancelled | finished, total: of documents, catalog, scope (JSON),
--                            by (who), created_ms; started, succeeded, failed, superseded, dead: how many of its jobs;
--                            skipped: documents that were gone when their turn came; keep_ms: how long it and its
--                            results are kept when it has ended
-- P:bulk:ID:todo     zset    document id by the time, ms, when it may be compiled again (0: at once)
-- P:bulk:ID:results  hash    document id -> job id and outcome, separated by a blank
-- P:bulks            zset    id of a recompile by the time when it was begun, ms
-- P:bulks-open       zset    the same of those that run or are paused
-- P:plan:TOKEN       string  JSON of a plan that waits for its token; expires
-- P:plans:WHO        list    tokens of the plans that somebody has waiting, the newest first
-- P:planned:TOKEN    string  id of the recompile that a token has begun; expires
-- P:stale            hash    document id -> JSON of the reasons why its published procedure is not what a compile makes
-- P:offer            string  token of the plan that the newest catalog offers; expires
-- P:bulk-inflight    set     the jobs of class bulk that have not ended
-- P:rate:KEY         string  the time, ms, when the bucket of KEY will be full again; expires then
-- Kept by others: P:catalog, the digest of the current catalog, P:catalog-offered, of the one whose plan was offered last,
-- and P:catalog-offered:DIGEST while a dispatcher makes that offer; P:catalog-asked:HASH, there until the MCP server of
-- that name's hash is listed again; P:token:ID, copies of tokens; P:consumers, who takes
-- messages.

local P = KEYS[1]
local MAX_EVENTS = 64
local MAX_ALL_EVENTS = 10000
local STATE = {parse = 'parsing', resolve = 'resolving', generate = 'generating', verify = 'verifying'}
local ENDED = {succeeded = true, failed = true, superseded = true, dead = true}

-- REBUILDS: whether this script takes part in making a new ledger; then ARGV[1] names the reindex that calls.
local schema, rebuild = unpack(redis.call('HMGET', P .. ':meta', 'schema', 'rebuild'))
if schema then
  if schema ~= SCHEMA then return redis.error_reply('OTHERLAYOUT ' .. schema) end
elseif not (REBUILDS and rebuild == ARGV[1]) then
  return redis.error_reply('UNOPENED there is no ledger')
end

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function doc_key(id) return P .. ':doc:' .. id end
local function job_key(id) return P .. ':job:' .. id end
local function events_key(id) return P .. ':events:' .. id end
local function bulk_key(id) return P .. ':bulk:' .. id end

local function text(value)
  -- A field that is missing reads as empty: an older version may not have written it.
  if value == false or value == nil then return '' end
  return value
end

local function read(key, ...)
  local values = redis.call('HMGET', key, ...)
  for index = 1, select('#', ...) do values[index] = text(values[index]) end
  return unpack(values)
end

local function integer(number) return string.format('%d', number) end
local function number(value) return tonumber(value) or 0 end

-- Whether (sequence, round) comes after (other, other_round); all may be texts, empty is 0.
local function after(sequence, round, other, other_round)
  if number(sequence) ~= number(other) then return number(sequence) > number(other) end
  return number(round) > number(other_round)
end

local function emit(job, document, event, detail)
  local entry = {'job', job, 'document', document, 'event', event, 'detail', detail or ''}
  redis.call('XADD', events_key(job), 'MAXLEN', '~', MAX_EVENTS, '*', unpack(entry))
  redis.call('XADD', P .. ':events', 'MAXLEN', '~', MAX_ALL_EVENTS, '*', unpack(entry))
end

local function took(key, stage, now)
  redis.call('HSET', key, 'took:' .. stage, integer(now - tonumber((read(key, 'begun:' .. stage)))))
end

local function forget_place(job)
  redis.call('ZREM', P .. ':messages', job)
  redis.call('ZREM', P .. ':leases', job)
  redis.call('ZREM', P .. ':retries', job)
end

-- Whether a job has a place from which it will go on, or has ended and the store will be told or was. A job without one
-- is what is left where a part of Redis was lost.
local function placed(job)
  local document, state = read(job_key(job), 'document', 'state')
  if document == '' then return false end
  if state == 'queued' then
    return read(doc_key(document), 'waiting') == job and redis.call('ZSCORE', P .. ':due', document) ~= false
  end
  if state == 'dead' then return redis.call('ZSCORE', P .. ':dead', job) ~= false end
  for _, set in ipairs({':messages', ':leases', ':retries', ':unrecorded'}) do
    if redis.call('ZSCORE', P .. set, job) then return true end
  end
  return state == 'succeeded' or state == 'failed'
end

-- A recompile has ended when all its documents have; a dead job that is replayed is under way once more.
local function end_bulk(bulk)
  local key = bulk_key(bulk)
  local state, total, keep = read(key, 'state', 'total', 'keep_ms')
  if total == '' then return end
  local done = 0
  for _, outcome in ipairs({'succeeded', 'failed', 'superseded', 'dead', 'skipped'}) do
    done = done + number((read(key, outcome)))
  end
  if done < number(total) and state == 'finished' then redis.call('HSET', key, 'state', 'running') end
  if done >= number(total) and state ~= 'cancelled' then
    redis.call('HSET', key, 'state', 'finished')
    redis.call('ZREM', P .. ':bulks-open', bulk)
    for _, name in ipairs({key, key .. ':results'}) do redis.call('PEXPIRE', name, keep) end
  end
end

-- Counts what became of one of its documents; not for a recompile that was removed meanwhile.
local function count_bulk(bulk, document, job, outcome)
  local key = bulk_key(bulk)
  if bulk == '' or redis.call('EXISTS', key) == 0 then return end
  redis.call('HINCRBY', key, outcome, 1)
  redis.call('HSET', key .. ':results', document, job .. ' ' .. outcome)
  local left = redis.call('PTTL', key)
  if left > 0 then redis.call('PEXPIRE', key .. ':results', left) end
  end_bulk(bulk)
end

-- A dead job of it is tried again.
local function uncount_dead(bulk)
  if bulk == '' or redis.call('EXISTS', bulk_key(bulk)) == 0 then return end
  redis.call('HINCRBY', bulk_key(bulk), 'dead', -1)
  end_bulk(bulk)
end

-- An ended job waits for readers only, until it expires: it gives back what it took to work on.
local function keep_ended(job, keep_ms)
  local key, events, copy = job_key(job), events_key(job), events_key(job) .. ':copy'
  redis.call('HDEL', key, 'note:parse', 'note:resolve', 'note:generate', 'worker', 'lease_ms', 'sent_ms')
  -- A stream has room to grow, four times what is in it; a copy has none.
  if redis.call('COPY', events, copy) == 1 then
    redis.call('COPY', copy, events, 'REPLACE')
    redis.call('DEL', copy)
  end
  redis.call('PEXPIRE', key, keep_ms)
  redis.call('PEXPIRE', events, keep_ms)
end

-- Ends a job: its place in the queues, its document's state, its life.
-- recorded: the store was told before (by the worker that made the outcome).
local function finish(job, outcome, detail, keep_ms, now, recorded)
  local key = job_key(job)
  local document, sequence, round, action, bulk, stage =
    read(key, 'document', 'sequence', 'round', 'action', 'bulk', 'stage')
  forget_place(job)
  redis.call('HSET', key, 'state', outcome, 'ended_ms', integer(now), 'token', '', 'outcome', detail)
  local doc = doc_key(document)
  local running, waiting, ended, ended_round, newest =
    read(doc, 'running', 'waiting', 'ended', 'ended_round', 'accepted')
  if running == job then redis.call('HSET', doc, 'running', '') end
  if waiting == job then
    redis.call('HSET', doc, 'waiting', '', 'first_ms', '')
    redis.call('ZREM', P .. ':due', document)
  end
  if outcome ~= 'superseded' and not after(ended, ended_round, sequence, round) then
    local state = outcome
    if outcome == 'succeeded' and action == 'retire' then state = 'retired' end
    redis.call('HSET', doc, 'state', state, 'ended', sequence, 'ended_round', round)
  end
  if outcome == 'succeeded' then
    if after(sequence, round, read(doc, 'published', 'published_round')) then
      redis.call('HSET', doc, 'published', sequence, 'published_round', round, 'published_job', job)
    end
    redis.call('HSET', doc, 'unpublished_ms', number(sequence) >= number(newest) and '' or integer(now))
  elseif outcome == 'failed' and number(sequence) >= number(newest) then
    redis.call('HSET', doc, 'unpublished_ms', '')
  end
  redis.call('HINCRBY', P .. ':totals', outcome, 1)
  redis.call('SREM', P .. ':bulk-inflight', job)
  count_bulk(bulk, document, job, outcome)
  if outcome == 'succeeded' or outcome == 'failed' then redis.call('HDEL', P .. ':stale', document) end
  emit(job, document, outcome, detail)
  if recorded then
    redis.call('ZREM', P .. ':unrecorded', job)
  else
    redis.call('ZADD', P .. ':unrecorded', now, job)
  end
  if outcome == 'dead' then
    redis.call('ZADD', P .. ':dead', now, job)
  else
    keep_ended(job, keep_ms)
  end
end

local BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

-- Of JSON, which may end in blanks: so it needs no padding.
local function base64(json)
  local function digit(value)
    local at = math.floor(value) % 64 + 1
    return string.sub(BASE64, at, at)
  end
  local groups = {}
  json = json .. string.rep(' ', -#json % 3)
  for at = 1, #json, 3 do
    local one, two, three = string.byte(json, at, at + 2)
    local bits = one * 65536 + two * 256 + three
    groups[#groups + 1] = digit(bits / 262144) .. digit(bits / 4096) .. digit(bits / 64) .. digit(bits)
  end
  return table.concat(groups)
end

local MESSAGE = [[{"body":"%s","content-type":"application/json","content-encoding":"utf-8",]]
  .. [["headers":{"lang":"py","task":"aop.%s","id":"%s","root_id":%s,"parent_id":null,"retries":0},]]
  .. [["properties":{"correlation_id":"%s","delivery_tag":"%s","delivery_mode":2,"priority":0,]]
  .. [["body_encoding":"base64","delivery_info":{"exchange":"","routing_key":"%s"}}}]]

-- A message as Celery's protocol 2 in kombu's envelope (`workers.broker` says what of it is read): it holds the job's
-- id only, and once more where `taken_job` finds it. `tag` is the message's own, so that whoever has taken it can
-- acknowledge it; it begins with the time, ms.
local function message(job, stage, queue, tag)
  local quoted = cjson.encode(job)
  return string.format(MESSAGE, base64('[[' .. quoted .. '],{},{}]'), stage, tag, quoted, tag, tag, queue)
end

-- The job of a message as `message` makes it, nil for any other one: what Celery has put off is not yet due, and what
-- is none at all is for Celery's own checks.
local function taken_job(raw, stage)
  if not raw or #raw > 4096 then return nil end
  local read_whole, envelope = pcall(cjson.decode, raw)
  local headers = read_whole and type(envelope) == 'table' and envelope.headers
  if type(headers) ~= 'table' or headers.task ~= 'aop.' .. stage or headers.retries ~= 0 then return nil end
  if headers.eta ~= nil and headers.eta ~= cjson.null then return nil end
  return type(headers.root_id) == 'string' and string.match(headers.root_id, '^%x+$') or nil
end

-- May a worker run that stage of the job now? See begin.lua.
local function begin_stage(job, stage, token, worker, lease, most, keep_job)
  local now = now_ms()
  local key = job_key(job)
  local document, state, at, held, lease_ms, superseded, attempts =
    read(key, 'document', 'state', 'stage', 'token', 'lease_ms', 'superseded', 'attempts')
  if document == '' then return {'gone'} end
  if ENDED[state] then return {'ended'} end
  if state == 'queued' or at ~= stage then return {'elsewhere'} end
  if held ~= '' and tonumber(lease_ms) > now then return {'leased'} end
  if superseded ~= '' then
    finish(job, 'superseded', superseded, keep_job, now)
    return {'superseded'}
  end
  if tonumber(attempts) >= most then
    finish(job, 'dead', stage, keep_job, now)
    return {'dead'}
  end
  forget_place(job)
  redis.call('HINCRBY', key, 'attempts', 1)
  redis.call('HINCRBY', key, 'total_attempts', 1)
  redis.call('HSET', key, 'token', token, 'worker', worker, 'lease_ms', integer(now + lease), 'begun:' .. stage, integer(now))
  redis.call('ZADD', P .. ':leases', now + lease, job)
  emit(job, document, 'begun', stage)
  return {'run', job, text(redis.call('GET', P .. ':catalog')), unpack(redis.call('HGETALL', key))}
end

-- Begins what the next message of a worker's queues is for, which is taken from it. `first`: where in ARGV the token,
-- the worker, the lease ms, the most attempts of a stage and the queues stand.
-- Returns what begin.lua does | {none}: the queues are empty, none are named, or what is next is for Celery to look at.
local function take_next(stage, first, keep_job)
  for index = first + 4, #ARGV do
    local queue = P .. ':queue:' .. ARGV[index]
    local job = taken_job(redis.call('LINDEX', queue, -1), stage)
    if job then
      redis.call('RPOP', queue)
      local token, worker, lease, most = unpack(ARGV, first, first + 3)
      return begin_stage(job, stage, token, worker, tonumber(lease), tonumber(most), keep_job)
    end
  end
  return {'none'}
end

-- The stage is to run: in the same step its message is on the queue.
local function enqueue(job, stage, now)
  forget_place(job)
  local key = job_key(job)
  redis.call('HSET', key, 'stage', stage, 'state', STATE[stage], 'token', '', 'sent_ms', integer(now))
  redis.call('ZADD', P .. ':messages', now, job)
  local queue = stage .. '.' .. read(key, 'class')
  local tag = integer(now) .. '-' .. integer(redis.call('HINCRBY', P .. ':totals', 'messages', 1))
  redis.call('LPUSH', P .. ':queue:' .. queue, message(job, stage, queue, tag))
end

-- The project's row of a document, as JSON [sequence, name, [calls]]. Whether its name or calls changed: not where a
-- newer save's row is there.
local function put_row(document, sequence, row)
  if number((read(doc_key(document), 'forgotten'))) >= number(sequence) then return false end
  local found = redis.call('HGET', P .. ':index', document)
  if found == row then return false end
  local changed = true
  if found then
    local old = cjson.decode(found)
    if old[1] > number(sequence) then return false end
    -- The rest of the row behind its sequence: equal rows are written alike.
    changed = string.match(found, ',.*') ~= string.match(row, ',.*')
  end
  redis.call('HSET', P .. ':index', document, row)
  if changed then redis.call('INCR', P .. ':index-version') end
  return changed
end

-- Writes a job that waits to be claimed, or for its first message.
local function make_job(job, document, sequence, round, class, action, source, revision, bulk, trace, now)
  redis.call('HSET', job_key(job), 'document', document, 'sequence', sequence, 'round', round, 'class', class,
    'action', action, 'source', source, 'revision', revision, 'bulk', bulk, 'trace', trace, 'state', 'queued',
    'stage', action == 'retire' and 'verify' or 'parse', 'attempts', 0, 'total_attempts', 0, 'token', '',
    'superseded', '', 'created_ms', integer(now))
end

-- The newest accepted save of a document is compiled again, now. See recompile.lua.
local function compile_again(document, job, class, bulk, trace)
  local doc = doc_key(document)
  local newest, action, waiting, running = read(doc, 'accepted', 'action', 'waiting', 'running')
  if newest == '' or action == 'retire' then return {'unknown'} end
  if waiting ~= '' or running ~= '' then return {'busy'} end
  local now = now_ms()
  local round = integer(redis.call('HINCRBY', doc, 'round', 1))
  make_job(job, document, newest, round, class, action, '', '', bulk, trace, now)
  redis.call('HSET', job_key(job), 'claimed_ms', integer(now))
  redis.call('HSET', doc, 'running', job)
  if class == 'bulk' then redis.call('SADD', P .. ':bulk-inflight', job) end
  if bulk ~= '' then redis.call('HINCRBY', bulk_key(bulk), 'started', 1) end
  emit(job, document, 'accepted', newest)
  enqueue(job, 'parse', now)
  emit(job, document, 'claimed', 'parse')
  return {'sent', job, 'parse', class}
end

-- Takes a document's waiting job out of its turn, for the save with this sequence, which gets it (`wait_turn`).
local function supersede_waiting(document, sequence, keep_ms, now)
  local doc = doc_key(document)
  local waiting, first = read(doc, 'waiting', 'first_ms')
  if waiting == '' then return end
  redis.call('HSET', job_key(waiting), 'superseded', sequence)
  finish(waiting, 'superseded', tostring(sequence), keep_ms, now)
  redis.call('HSET', doc, 'first_ms', first)
end

-- The save that answered an idempotency key before: its job and sequence, nil where there is none.
local function answered(once)
  if once == '' then return nil end
  local found = redis.call('GET', P .. ':once:' .. once)
  if not found then return nil end
  return string.match(found, '^(%S+) (%d+)$')
end

local function remember(once, job, sequence, keep_ms)
  if once ~= '' then redis.call('SET', P .. ':once:' .. once, job .. ' ' .. sequence, 'PX', keep_ms) end
end

-- Records the newest revision of a source, unless a newer one is recorded.
local function see_revision(doc, source, revision, rank, sequence, job)
  if revision == '' then return end
  local seen_rank, seen_sequence = read(doc, 'rank:' .. source, 'revision_sequence:' .. source)
  local newer
  if rank ~= '' and seen_rank ~= '' and rank ~= seen_rank then
    newer = rank > seen_rank
  else
    newer = number(sequence) > number(seen_sequence)
  end
  if newer then
    redis.call('HSET', doc, 'revision:' .. source, revision, 'rank:' .. source, rank,
      'revision_sequence:' .. source, sequence, 'revision_job:' .. source, job)
  end
end

-- Puts a job that was made in its document's turn.
local function wait_turn(job, document, quiet, longest, now)
  local doc = doc_key(document)
  local first, unpublished = read(doc, 'first_ms', 'unpublished_ms')
  if first == '' then first = integer(now) end
  if unpublished == '' then unpublished = integer(now) end
  redis.call('HSET', doc, 'waiting', job, 'first_ms', first, 'unpublished_ms', unpublished)
  redis.call('ZADD', P .. ':due', math.min(now + quiet, tonumber(first) + longest), document)
end
