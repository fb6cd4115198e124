-- A document was retired by the save with this sequence: it is no longer part of the project.
-- ARGV: document, sequence. Returns 1: its row was removed | 0: there was none, or a newer save's.
local document, sequence = ARGV[1], ARGV[2]
local doc = doc_key(document)
-- A worker that is still at an older save must not bring the row back.
if number(sequence) > number((read(doc, 'forgotten'))) then redis.call('HSET', doc, 'forgotten', sequence) end
local found = redis.call('HGET', P .. ':index', document)
if not found or cjson.decode(found)[1] > number(sequence) then return 0 end
redis.call('HDEL', P .. ':index', document)
redis.call('INCR', P .. ':index-version')
return 1
