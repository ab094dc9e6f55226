-- Tells that a seat is no longer connected, unless a process shows it again.
--
-- KEYS  the game, its feed, the wake-up channel of its bucket, the due work of its bucket
-- ARGV  1 seat; 2 entry of the feed; 3 its mark; 4 entries the feed keeps; 5 id of the game

redis.call('ZREM', KEYS[4], 'gone ' .. ARGV[5] .. ' ' .. ARGV[1])
if redis.call('TTL', KEYS[1]) ~= -1 or redis.call('HEXISTS', KEYS[1], 'c' .. ARGV[1]) == 1
  or redis.call('HDEL', KEYS[1], 's' .. ARGV[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'mark', ARGV[3])
local position = redis.call('HINCRBY', KEYS[1], 'position', 1)
redis.call('XADD', KEYS[2], 'MAXLEN', ARGV[4], position .. '-0', 'e', ARGV[2])
tell(KEYS[1], KEYS[3], ARGV[5], KEYS[4])
return 1
