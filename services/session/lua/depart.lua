-- Takes back that a process shows a seat as connected. Should no other process show it, it is due to be told as gone.
--
-- KEYS  the game, the due work of its bucket, what the process shows
-- ARGV  seat; name of the process; id of the game; milliseconds until it is told

redis.call('SREM', KEYS[3], ARGV[3] .. ' ' .. ARGV[1])
local field, name = 'c' .. ARGV[1], ' ' .. ARGV[2] .. ' '
local processes = redis.call('HGET', KEYS[1], field)
local start, stop = string.find(processes or '', name, 1, true)
if not start then
  return 0
end
processes = string.sub(processes, 1, start - 1) .. string.sub(processes, stop + 1)
if processes ~= '' then
  redis.call('HSET', KEYS[1], field, processes)
  return 1
end
redis.call('HDEL', KEYS[1], field)
if redis.call('TTL', KEYS[1]) == -1 then
  local time = redis.call('TIME')
  redis.call('ZADD', KEYS[2], time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4], 'gone ' .. ARGV[3] .. ' ' .. ARGV[1])
end
return 1
