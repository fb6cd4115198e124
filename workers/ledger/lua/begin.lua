-- A worker has a message for a stage: may it run?
-- ARGV: job, stage, token, worker, lease ms, most attempts of a stage, how long to keep ended jobs ms
-- Returns {run, job, digest of the current catalog ("" unknown), the job's fields...}
--   | {gone} | {ended} | {elsewhere} | {leased} | {superseded} | {dead}.
return begin_stage(ARGV[1], ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]))
