-- The newest accepted save of a document is to be compiled again, now.
-- ARGV: document, job, class, bulk ("" none), trace
-- Returns {sent, job, stage, class} | {busy}: a job of the document waits or runs | {unknown}: there is nothing to
-- compile, because no save was accepted or the newest retires the document.
local document, job, class, bulk, trace = unpack(ARGV, 1, 5)
return compile_again(document, job, class, bulk, trace)
