-- Puts a new game into the store, unless it is there.
--
-- KEYS  the game, its feed
-- ARGV  the first entry of the feed; fields of the game with their values
-- Gives the birth of the game that is there afterwards.

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 2))
  redis.call('XADD', KEYS[2], '1-0', 'e', ARGV[1])
end
return redis.call('HGET', KEYS[1], 'birth')
