-- Puts a new game into the store, unless it is there.
--
-- KEYS  the game, its feed, the due work of its bucket
-- ARGV  the first entry of the feed; the work that looks whether the game is abandoned, and when in milliseconds since
--       1970; fields of the game with their values
-- Gives the birth of the game that is there afterwards.

if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], unpack(ARGV, 4))
  redis.call('XADD', KEYS[2], '1-0', 'e', ARGV[1])
  redis.call('ZADD', KEYS[3], ARGV[3], ARGV[2])
end
return redis.call('HGET', KEYS[1], 'birth')
