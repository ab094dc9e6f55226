-- Takes work that is due, so that nobody else takes it within a time; whoever took it removes it once it is done.
--
-- KEYS  the due work of a bucket
-- ARGV  milliseconds for which it is taken; most pieces of work
-- Gives the work. A process that was to be alive is dead by being due, and cannot come to life again under its name.

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local taken = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[2])
for number, work in ipairs(taken) do
  if string.sub(work, 1, 6) == 'alive ' then
    redis.call('ZREM', KEYS[1], work)
    work = 'dead ' .. string.sub(work, 7)
    taken[number] = work
  end
  redis.call('ZADD', KEYS[1], now + ARGV[1], work)
end
return taken
