-- Leaves of the feed of a game that is over only its last entry.
--
-- KEYS  the feed

local left, last = redis.call('PTTL', KEYS[1]), redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if last and left > 0 then
  redis.call('DEL', KEYS[1])
  redis.call('XADD', KEYS[1], last[1], unpack(last[2]))
  -- Once more, as a stream that grows takes room for several entries.
  redis.call('RESTORE', KEYS[1], left, redis.call('DUMP', KEYS[1]), 'REPLACE')
end
return 1
