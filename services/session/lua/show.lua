-- Shows the feed of a game up to a position that the store will not lose, and wakes who watches.
--
-- KEYS  the game, the wake-up channel of its bucket
-- ARGV  position; id of the game

local shown = redis.call('HGET', KEYS[1], 'shown')
if shown and tonumber(shown) < tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'shown', ARGV[1])
  redis.call('SPUBLISH', KEYS[2], ARGV[2])
end
return 1
