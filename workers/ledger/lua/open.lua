-- There is no ledger yet, and a new one is right: the store holds no document, or reindex has put everything in.
-- ARGV: rebuild ("" none), epoch
-- Returns 1: made | 0: there was one.
if schema then return 0 end
redis.call('HSET', P .. ':meta', 'schema', SCHEMA, 'epoch', ARGV[2])
redis.call('HDEL', P .. ':meta', 'rebuild')
return 1
