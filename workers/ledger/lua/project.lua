-- The project: {version, document, row, ...} of one moment. ARGV: the version that the caller has ("" none)
-- Returns {version} alone where it is the caller's.
local version = text(redis.call('HGET', P .. ':meta', 'epoch')) .. ':' .. text(redis.call('GET', P .. ':index-version'))
if version == ARGV[1] then return {version} end
local answer = redis.call('HGETALL', P .. ':index')
table.insert(answer, 1, version)
return answer
