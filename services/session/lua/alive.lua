-- Tells that a process is alive.
--
-- KEYS  the due work of a bucket
-- ARGV  name of the process; milliseconds after which it counts as dead; '1' for a name that was never used in this bucket
-- Gives 1, or 0 if the process counts as dead already: then it needs another name.

local work = 'alive ' .. ARGV[1]
if ARGV[3] ~= '1' and not redis.call('ZSCORE', KEYS[1], work) then
  return 0
end
local time = redis.call('TIME')
redis.call('ZADD', KEYS[1], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[2], work)
return 1
