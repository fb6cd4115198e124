-- The project's row of a document. ARGV: document, sequence, row (JSON [sequence, name, [calls]])
-- Returns 1: its name or calls changed | 0: they did not, or a newer save's row is there.
local document, sequence, row = unpack(ARGV, 1, 3)
if number((read(doc_key(document), 'forgotten'))) >= number(sequence) then return 0 end
local found = redis.call('HGET', P .. ':index', document)
if found == row then return 0 end
local changed = true
if found then
  local old = cjson.decode(found)
  if old[1] > number(sequence) then return 0 end
  -- The rest of the row behind its sequence: equal rows are written alike.
  changed = string.match(found, ',.*') ~= string.match(row, ',.*')
end
redis.call('HSET', P .. ':index', document, row)
if not changed then return 0 end
redis.call('INCR', P .. ':index-version')
return 1
