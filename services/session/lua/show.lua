-- Shows the feed of a game up to a position that the store will not lose, and wakes who watches.
--
-- KEYS  the game, the wake-up channel of its bucket, the due work of its bucket
-- ARGV  position; id of the game

local position, shown = unpack(redis.call('HMGET', KEYS[1], 'position', 'shown'))
if shown and tonumber(shown) < tonumber(ARGV[1]) then
  shown = ARGV[1]
  redis.call('HSET', KEYS[1], 'shown', shown)
  redis.call('SPUBLISH', KEYS[2], ARGV[2])
end
if not shown or tonumber(shown) >= tonumber(position) then
  redis.call('ZREM', KEYS[3], 'show ' .. ARGV[2])
end
return 1
