-- The ledger's keys, and what every transition shares. Put in front of each script of this folder.
--
-- KEYS[1] is the prefix P of all keys (one installation). Other keys are made of it here: a Redis Cluster, which would
-- want them named beforehand, is refused at start.
--
-- P:meta             hash    schema: the version of this layout (checked at start)
-- P:doc:ID           hash    sequence: of the newest accepted save, from 1
--                            waiting: the job that the next claim will take ("" none)
--                            first_ms: when the oldest save was accepted that no claim has taken yet
--                            running: the job that was claimed last, while it is under way ("" none)
--                            unpublished_ms: since when a save has been accepted and none published ("" none)
--                            published: sequence of the newest published save; published_job
--                            state: accepted | succeeded | failed | dead | retired, of the newest save that has ended
--                            ended: the sequence that state speaks of
--                            revision:SOURCE, rank:SOURCE, revision_job:SOURCE: the newest revision of each source
-- P:docs             zset    document id by the time of its newest accepted save, ms
-- P:due              zset    document id by the time when its waiting job is to be claimed, ms
-- P:job:ID           hash    document, sequence, class (interactive | bulk), action (compile | retire), text (where the
--                            save lies in the store), source, revision, bulk ("" none), trace (W3C traceparent or "")
--                            state: queued | parsing | resolving | generating | verifying
--                                   | succeeded | failed | superseded | dead
--                            stage: parse | resolve | generate | verify, of which state is the doing
--                            attempts: of this stage; total_attempts: of all
--                            token: of the lease's holder ("" none), lease_ms: when it ends, worker: who holds it
--                            superseded: the sequence of the save that makes this job needless ("" none)
--                            created_ms, claimed_ms, ended_ms; begun:STAGE, took:STAGE in ms; note:STAGE: JSON that the
--                            stage left for the next ones; outcome: JSON; cause: of the last failed attempt
--                            Expires when it has ended, dead jobs excepted.
-- P:messages         zset    job id by the time when the message for its stage was handed to the queue, ms. A job that is
--                            under way is in exactly one of messages, leases and retries.
-- P:leases           zset    job id by the time when its lease ends, ms
-- P:retries          zset    job id by the time when it may be tried again, ms
-- P:dead             zset    job id by the time of its death, ms
-- P:events:JOB       stream  what happened to the job: at most MAX_EVENTS, expires with it
-- P:events           stream  the same of all jobs, for those who watch: at most MAX_ALL_EVENTS
-- P:once:KEY         string  job id that answered this idempotency key; expires
-- P:totals           hash    succeeded, failed, superseded, dead, expired:STAGE: how many ever, for the exporter

local P = KEYS[1]
local MAX_EVENTS = 64
local MAX_ALL_EVENTS = 10000
local STATE = {parse = 'parsing', resolve = 'resolving', generate = 'generating', verify = 'verifying'}
local ENDED = {succeeded = true, failed = true, superseded = true, dead = true}

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

local function doc_key(id) return P .. ':doc:' .. id end
local function job_key(id) return P .. ':job:' .. id end
local function events_key(id) return P .. ':events:' .. id end

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

-- Ends a job: its place in the queues, its document's state, its life.
local function finish(job, outcome, detail, keep_ms, now)
  local key = job_key(job)
  local document, sequence, action = read(key, 'document', 'sequence', 'action')
  forget_place(job)
  redis.call('HSET', key, 'state', outcome, 'ended_ms', integer(now), 'token', '', 'outcome', detail)
  local doc = doc_key(document)
  local running, waiting, ended, newest = read(doc, 'running', 'waiting', 'ended', 'sequence')
  if running == job then redis.call('HSET', doc, 'running', '') end
  if waiting == job then
    redis.call('HSET', doc, 'waiting', '', 'first_ms', '')
    redis.call('ZREM', P .. ':due', document)
  end
  local number = tonumber(sequence)
  if outcome ~= 'superseded' and number >= (tonumber(ended) or 0) then
    local state = outcome
    if outcome == 'succeeded' and action == 'retire' then state = 'retired' end
    redis.call('HSET', doc, 'state', state, 'ended', sequence)
  end
  if outcome == 'succeeded' then
    local published = tonumber((read(doc, 'published'))) or 0
    if number > published then redis.call('HSET', doc, 'published', sequence, 'published_job', job) end
    redis.call('HSET', doc, 'unpublished_ms', number >= (tonumber(newest) or 0) and '' or integer(now))
  elseif outcome == 'failed' and number >= (tonumber(newest) or 0) then
    redis.call('HSET', doc, 'unpublished_ms', '')
  end
  redis.call('HINCRBY', P .. ':totals', outcome, 1)
  emit(job, document, outcome, detail)
  if outcome == 'dead' then
    redis.call('ZADD', P .. ':dead', now, job)
  else
    redis.call('PEXPIRE', key, keep_ms)
    redis.call('PEXPIRE', events_key(job), keep_ms)
  end
end

-- Hands the job's current stage to the queue; the caller sends the message.
local function enqueue(job, stage, now)
  forget_place(job)
  redis.call('HSET', job_key(job), 'stage', stage, 'state', STATE[stage], 'token', '')
  redis.call('ZADD', P .. ':messages', now, job)
end
