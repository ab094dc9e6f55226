-- Leaves of the feed of a game that is over only its last entry, and nothing of the index of its fingerprints.
--
-- KEYS  the feed, the game

local left, last = redis.call('PTTL', KEYS[1]), redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and left > 0 then
  redis.call('DEL', KEYS[1])
  redis.call('XADD', KEYS[1], last[1], unpack(last[2]))
  -- Once more, as a stream that grows takes room for several entries.
  redis.call('RESTORE', KEYS[1], left, redis.call('DUMP', KEYS[1]), 'REPLACE')
  for list = 0, lists - 1 do
    redis.call('HDEL', KEYS[2], 'i' .. list)
  end
end
return 1
